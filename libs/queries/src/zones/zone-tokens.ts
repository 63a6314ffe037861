import type {
  IssuedZoneInvite,
  IssuedZoneToken,
  ListedToken,
  ZoneInviteRequest,
  ZoneTokenRequest,
} from '@causeway/access';
import { NotFound } from '@causeway/resources';
import type { PageRange } from '@causeway/runtime';
import { ZONE_TOKEN_FORM } from '../tokens/token-forms';
import { TokenQueries, tokenPage, type TokenAccess } from '../tokens/token-queries';

/**
 * Authentication of zones by a global, and of its own ingress and egress by a zone without a global (docs/design.md §5
 * Zone tokens). Methods throw DomainErrors.
 */
export interface ZoneAccess extends TokenAccess<ZoneTokenRequest, IssuedZoneToken> {
  /** Returns the PEM certificate of the authority with which zones verify this global; undefined if another party issued it, and in a zone. */
  authority(): string | undefined;
  /** On a global. */
  readonly invites?: InviteAccess;
}

/** Invites of zones, as a global issues them. Methods throw DomainErrors. */
export interface InviteAccess {
  issue(request: ZoneInviteRequest): Promise<IssuedZoneInvite>;
  list(): Promise<readonly ListedToken[]>;
  /** Revokes an invite by its id and resolves with warnings. */
  revoke(id: string): Promise<readonly string[]>;
  /** Exchanges an invite for a zone token, once. */
  redeem(invite: string): Promise<IssuedZoneToken>;
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

/** A zone token, and what its bearer verifies the global by. */
export type RedeemedInvite = IssuedZoneToken & { readonly authority?: string };

/** Invites of zones for callers on any interface. Every method throws NotFound on a control plane that is no global. */
export class ZoneInvites {
  constructor(private readonly zoneAccess: ZoneAccess | undefined) {}

  /** Throws NotFound if no zones are invited here. */
  checkHere(): void {
    this.here();
  }

  /** Issues an invite on behalf of the user `issuedBy`. */
  async issue(zone: string, issuedBy: string): Promise<IssuedZoneInvite> {
    return this.here().issue({ zone, issuedBy });
  }

  /** Returns a range of the invites that are valid or expired within the last week; the first to expire first. */
  async list(range: PageRange) {
    const { total, items } = tokenPage(await this.here().list(), range);
    return {
      total,
      items: items.map(({ zone, ...token }) => ({ ...token, zone: typeof zone === 'string' ? zone : '' })),
    };
  }

  /** Revokes an invite by its id and resolves with warnings. */
  async revoke(id: string): Promise<readonly string[]> {
    return this.here().revoke(id);
  }

  /** Exchanges an invite for a token of its zone, once, and the authority that verifies the global. */
  async redeem(invite: string): Promise<RedeemedInvite> {
    const token = await this.here().redeem(invite);
    const authority = this.zoneAccess?.authority();
    return { ...token, ...(authority !== undefined && { authority }) };
  }

  private here(): InviteAccess {
    const invites = this.zoneAccess?.invites;
    if (invites) return invites;
    throw new NotFound('Zones are invited by the global control plane: causeway --context global, or --server URL.');
  }
}
