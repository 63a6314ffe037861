import { decodeProtectedHeader } from 'jose';
import { compareText, Forbidden, globalIdentity, type Identity, type Resource } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { IndexChange, IndexReader } from '@causeway/store';
import { Unauthenticated } from '../unauthenticated';
import { TokenFamily } from '../tokens/token-family';
import type { IssuedToken, TokenDependencies } from '../tokens/token-issuer';
import { TokenEnded } from '../tokens/signed-token';
import { ZoneInviteIssuer } from './zone-invites';
import { CP_SCOPE, requireScope, ZONE_TOKEN, type ZoneClaims, type ZoneTokenFamily } from './zone-token';
import { ZoneTokenRenewals, type ZoneTokenRenewalRequest } from './zone-token-renewals';

/** A token that a zone was admitted with. */
interface ShownZoneToken {
  readonly id: string;
  /** ms since 1970. */
  readonly until: number;
  readonly isRenewable: boolean;
}

/** Zone tokens of one replica of the global; follows the index until `close`. */
export interface ZoneTokenService {
  readonly auth: ZoneTokenAuthenticator;
  readonly tokens: ZoneTokenFamily['tokens'];
  readonly invites: ZoneInviteIssuer;
  readonly renewals: ZoneTokenRenewals;
  /**
   * Returns warnings for the operator who deletes this resource: the zones whose tokens were signed with the deleted
   * key.
   */
  deletionWarnings(id: Identity): readonly string[];
  /** Secrets named like signing keys that hold none, with the reason. */
  faults(): readonly string[];
  close(): void;
}

/** Creates the service. The store may have no signing key yet: `tokens.ensureKey` makes it. */
export function createZoneTokenService(options: Omit<TokenDependencies, 'cp'>): ZoneTokenService {
  const dependencies: TokenDependencies = { ...options, cp: { role: 'global' } };
  const family = new TokenFamily(ZONE_TOKEN, dependencies, { endsTrust: turnsAuth });
  const renewals = new ZoneTokenRenewals(family, dependencies);
  const auth = new ZoneTokenAuthenticator(family, renewals, dependencies);
  const invites = new ZoneInviteIssuer(dependencies, family.tokens);
  return {
    auth,
    tokens: family.tokens,
    invites,
    renewals,
    deletionWarnings: (id) => {
      const zones = auth.zonesBy(family.serialOf(id));
      const needing = zones.length === 0 ? '' : `; sent away until they have another: ${zones.join(', ')}`;
      return family.deletionWarnings(id).map((warning) => `${warning}${needing}`);
    },
    faults: () => family.faults(),
    close: () => {
      invites.close();
      family.close();
    },
  };
}

/**
 * Admits zones by their token (docs/design.md §5 Zone tokens): the caller is the zone that the token was issued for.
 */
class ZoneTokenAuthenticator {
  /** The last token of each zone that was admitted, and the serial of its key. */
  private readonly lastTokens = new Map<string, ShownZoneToken & { readonly serial: number }>();

  constructor(
    private readonly family: ZoneTokenFamily,
    private readonly renewals: ZoneTokenRenewals,
    private readonly sources: { readonly index: Pick<IndexReader, 'get'>; readonly clock: Pick<Clock, 'now'> },
  ) {}

  /** Returns the facts of the last token that this replica admitted the zone with; undefined if it has not, or the zone needs none. */
  shownToken(zone: string): ShownZoneToken | undefined {
    const { id, until, isRenewable } = this.lastTokens.get(zone) ?? {};
    return id === undefined || until === undefined || isRenewable === undefined
      ? undefined
      : { id, until, isRenewable };
  }

  /**
   * Resolves with the end of the token's validity, ms since 1970; without one for a zone that needs no token. `token`
   * is without the scheme. Throws Unauthenticated if the token is missing or not valid, Forbidden if it is for another
   * zone or another use.
   */
  async authenticate({
    zone,
    token,
  }: {
    readonly zone: string;
    readonly token?: string;
  }): Promise<{ readonly until?: number }> {
    if (this.isExempt(zone)) {
      this.lastTokens.delete(zone);
      return {};
    }
    if (token === undefined) {
      throw new Unauthenticated(
        `zone "${zone}" has to show a zone token; make one on the global: causeway tokens zone ${zone}; a zone of plain Kuma has none to show: apply its Zone with spec: {auth: none}`,
      );
    }
    const claims = await this.verify(zone, token);
    if (claims.zone !== zone)
      throw new Forbidden(`the zone token is of zone "${claims.zone}", the caller is "${zone}"`);
    requireScope(claims, CP_SCOPE);
    const { id, expiresAt: until, isRenewable } = claims;
    this.lastTokens.set(zone, { id, until, isRenewable, serial: Number(decodeProtectedHeader(token).kid) });
    void this.renewals.markUsed(claims);
    return { until: claims.expiresAt };
  }

  private async verify(zone: string, token: string): Promise<ZoneClaims> {
    try {
      return await this.family.verify(token);
    } catch (error) {
      if (error instanceof TokenEnded) void this.renewals.recordEnded(zone, error.id);
      throw error;
    }
  }

  /** Issues the successor of the zone's token (`ZoneTokenRenewals.renew`). */
  renew(request: ZoneTokenRenewalRequest): Promise<IssuedToken> {
    return this.renewals.renew(request);
  }

  /** Whether the operator exempted this zone from tokens (`Zone.spec.auth: none`; docs/design.md §5 Zone tokens). */
  private isExempt(zone: string): boolean {
    return readAuth(this.sources.index.get(globalIdentity('Zone', zone))) === 'none';
  }

  /** Returns the zones whose last token at this replica was signed with this key and is still valid; sorted by name. */
  zonesBy(serial: number | undefined): readonly string[] {
    const now = this.sources.clock.now();
    const zones = [...this.lastTokens].filter(([, token]) => token.serial === serial && token.until > now);
    return zones.map(([zone]) => zone).sort(compareText);
  }

  /**
   * Calls `listener` when an admitted zone may have to be authenticated again, until the returned function is called.
   */
  onChange(listener: () => void): () => void {
    return this.family.onChange(listener);
  }
}

function turnsAuth({ id, before, after }: IndexChange): boolean {
  return id.kind === 'Zone' && readAuth(before) !== readAuth(after);
}

function readAuth(zone: Resource | undefined): unknown {
  return zone?.spec['auth'];
}
