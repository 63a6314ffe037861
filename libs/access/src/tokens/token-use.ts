/** Use of a token, and where its keys, revocations and records are stored. */
export interface TokenUse {
  /** Name of such a token in messages. */
  readonly name: string;
  /** The claim that every token of this use has, and no other. */
  readonly claim: string;
  /** Signing keys are GlobalSecrets of this name and `-<serial>`, as in Kuma (docs/reference/kuma-rest.md §5.5). */
  readonly signingKey: string;
  /** The GlobalSecret that lists the ids of revoked tokens, as in Kuma. */
  readonly revocations: string;
  /** Area of the metadata that records which tokens were issued. */
  readonly records: string;
}

/** Tokens with which zones join the global. */
export const ZONE_TOKEN: TokenUse = {
  name: 'zone token',
  claim: 'Zone',
  signingKey: 'zone-token-signing-key',
  revocations: 'zone-token-revocations',
  records: 'zone-tokens',
};

/** Tokens with which users authenticate. */
export const USER_TOKEN: TokenUse = {
  name: 'user token',
  claim: 'Name',
  signingKey: 'user-token-signing-key',
  revocations: 'user-token-revocations',
  records: 'user-tokens',
};

/**
 * Tokens that prove which Dataplanes a proxy may be (docs/reference/kuma-rest.md §5.5). Kuma writes every claim, empty
 * ones too; the claim "Mesh" distinguishes them from tokens of other uses.
 */
export const DATAPLANE_TOKEN: TokenUse = {
  name: 'dataplane token',
  claim: 'Mesh',
  signingKey: 'dataplane-token-signing-key',
  revocations: 'dataplane-token-revocations',
  records: 'dataplane-tokens',
};
