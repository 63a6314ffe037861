import { Conflict, Forbidden } from '@causeway/resources';
import { TokenFamily } from '../tokens/token-family';
import type { TokenDefinition, TokenFacts, TokenRequest } from '../tokens/token-definition';
import type { IssuedToken, ListedToken, TokenDependencies } from '../tokens/token-issuer';
import { Unauthenticated } from '../unauthenticated';
import { type IssuedZoneToken, ZONE_TOKEN, zoneTokenViolations, type ZoneTokenFamily } from './zone-token';

/** Maximum number of invites that are neither used nor revoked nor expired. */
const MAX_OPEN = 100;

/** A request for an invite. Its validity is that of the definition. */
export interface ZoneInviteRequest extends Pick<TokenRequest, 'issuedBy'> {
  readonly zone: string;
}

/** A new invite. It is returned once and stored nowhere. */
export type IssuedZoneInvite = IssuedToken & Pick<ZoneInviteRequest, 'zone'>;

/** The claims of an invite. */
interface InviteClaims extends TokenFacts {
  readonly zone: string;
}

/**
 * One-time tokens that are exchanged for the zone token of one zone. They are signed by the keys of zone tokens, and are no zone tokens:
 * the claim is another.
 */
const ZONE_INVITE: TokenDefinition<ZoneInviteRequest, Pick<ZoneInviteRequest, 'zone'>, InviteClaims> = {
  name: 'zone invite',
  claim: 'Invite',
  signingKey: ZONE_TOKEN.signingKey,
  revocations: 'zone-invite-revocations',
  records: 'zone-invites',
  validFor: '10m',
  violations: ({ zone }) => zoneTokenViolations({ zone }),
  order: ({ zone }) => ({ claims: { Invite: zone }, facts: { zone }, answer: { zone } }),
  decode: ({ id, expiresAt, payload: { Invite: zone } }) => {
    if (typeof zone !== 'string' || zone === '')
      throw new Unauthenticated('the claim "Invite" of the zone invite must be the name of a zone');
    return { id, zone, expiresAt };
  },
};

/** Invites of zones at one replica of the global; follows the index until `close`. */
export class ZoneInviteIssuer {
  private readonly family: TokenFamily<ZoneInviteRequest, Pick<ZoneInviteRequest, 'zone'>, InviteClaims>;

  constructor(
    private readonly dependencies: TokenDependencies,
    private readonly zoneTokens: Pick<ZoneTokenFamily['tokens'], 'issue' | 'list'>,
  ) {
    this.family = new TokenFamily(ZONE_INVITE, dependencies);
  }

  /** Issues an invite. Throws Invalid, Unavailable without a signing key, Conflict if too many are open. */
  async issue(request: ZoneInviteRequest): Promise<IssuedZoneInvite> {
    const now = this.dependencies.clock.now();
    const open = (await this.list()).filter(({ expiresAt, revoked }) => expiresAt > now && !revoked);
    if (open.length >= MAX_OPEN)
      throw new Conflict(`${open.length} zone invites are open, the most; each ends after 10 minutes, or when revoked`);
    return this.family.tokens.issue(request);
  }

  /** Returns the invites that are valid or expired within the last week; one that was used counts as revoked. */
  list(): Promise<readonly ListedToken[]> {
    return this.family.tokens.list();
  }

  /** Revokes an invite by its id and resolves with warnings. */
  revoke(id: string): Promise<readonly string[]> {
    return this.family.tokens.revoke(id);
  }

  /**
   * Exchanges an invite for a token of its zone: once, on whichever replica. Throws Forbidden with the reason for one that is malformed,
   * expired, used or revoked, and for one that was issued elsewhere.
   */
  async redeem(invite: string): Promise<IssuedZoneToken> {
    const { trustedKeys } = this.family;
    // The write below decides what is revoked: this replica may not have heard of it yet.
    const keys = { trustedKeys: { ...trustedKeys, revoked: new Set<string>() } };
    const { id, zone } = await this.family.verify(invite, { keys }).catch((error: unknown) => {
      throw error instanceof Unauthenticated ? refusal(error.message, error) : error;
    });
    if (!(await this.family.tokens.revokeOnce(id))) throw refusal(await this.describeEnd(id));
    this.dependencies.logger.info('a zone invite was used', { zone, id });
    return this.zoneTokens.issue({ zone, issuedBy: issuerName(id) });
  }

  /** Forgets invites that expired a week ago. A leader calls it periodically. */
  purge(): Promise<void> {
    return this.family.tokens.purge();
  }

  close(): void {
    this.family.close();
  }

  private async describeEnd(id: string): Promise<string> {
    const used = (await this.zoneTokens.list()).find(({ issuedBy }) => issuedBy === issuerName(id));
    const end = used ? `was used at ${new Date(used.issuedAt).toISOString()}` : 'was used or revoked';
    return `the zone invite ${id} ${end}`;
  }
}

/** Returns the issuer of a zone token that was given for an invite. */
function issuerName(id: string): string {
  return `invite ${id}`;
}

function refusal(reason: string, cause?: unknown): Forbidden {
  return new Forbidden(`${reason}; make another at the global: causeway zones invite ZONE`, { cause });
}
