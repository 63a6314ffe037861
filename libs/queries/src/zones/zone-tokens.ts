import type { IssuedZoneToken, ZoneTokenRequest } from '@causeway/access';
import { NotFound } from '@causeway/resources';
import { ZONE_TOKEN_FORM } from '../tokens/token-forms';
import { TokenQueries, type TokenAccess } from '../tokens/token-queries';

/**
 * Authentication of zones by a global, and of its own ingress and egress by a zone without a global (docs/design.md §5
 * Zone tokens). Methods throw DomainErrors.
 */
export interface ZoneAccess extends TokenAccess<ZoneTokenRequest, IssuedZoneToken> {
  /** Returns the PEM certificate of the authority with which zones verify this global; undefined if another party issued it, and in a zone. */
  authority(): string | undefined;
}

/** Zone tokens for callers on any interface, and the authority with which their bearers verify this global. */
export class ZoneTokens extends TokenQueries<ZoneTokenRequest, IssuedZoneToken, ZoneAccess> {
  constructor(zoneAccess: ZoneAccess | undefined) {
    super(ZONE_TOKEN_FORM, zoneAccess);
  }

  /** Returns the PEM certificate of the authority with which zones verify this global. */
  authority(): string {
    const pem = this.here().authority();
    if (pem !== undefined) return pem;
    throw new NotFound(
      'Zones verify this control plane by no authority of its own; ask whoever issued its certificate.',
    );
  }
}
