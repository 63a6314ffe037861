/** What tokens are for, and where their keys, revocations and records are kept. */
export interface TokenUse {
  /** How messages call such a token. */
  readonly name: string;
  /** The claim that every token of this use has, and no other. */
  readonly claim: string;
  /** Signing keys are GlobalSecrets of this name and `-<serial>`, as in Kuma (docs/reference/kuma-rest.md §5.5). */
  readonly signingKey: string;
  /** The GlobalSecret that lists the ids of revoked tokens, as in Kuma. */
  readonly revocations: string;
  /** The area of the notes that remember which tokens were issued. */
  readonly records: string;
}

/** Tokens by which zones join the global. */
export const ZONE_TOKEN: TokenUse = {
  name: 'zone token',
  claim: 'Zone',
  signingKey: 'zone-token-signing-key',
  revocations: 'zone-token-revocations',
  records: 'zone-tokens',
};

/** Tokens by which users show who they are. */
export const USER_TOKEN: TokenUse = {
  name: 'user token',
  claim: 'Name',
  signingKey: 'user-token-signing-key',
  revocations: 'user-token-revocations',
  records: 'user-tokens',
};

/**
 * Tokens by which proxies show which Dataplanes they may be (docs/reference/kuma-rest.md §5.5). Kuma writes every claim,
 * empty ones too; the claim "Mesh" tells them from tokens of other uses.
 */
export const DATAPLANE_TOKEN: TokenUse = {
  name: 'dataplane token',
  claim: 'Mesh',
  signingKey: 'dataplane-token-signing-key',
  revocations: 'dataplane-token-revocations',
  records: 'dataplane-tokens',
};
