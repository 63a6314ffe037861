import { Type, type Static } from 'typebox';
import { defineKind, Sync, type FieldPath, type Violation } from '@causeway/resources';
import { Duration, MAX_NAME_LENGTH, NonEmpty, strict } from './schema/schema-parts';

/** Maximum number of revoked tokens that are sent to zones; a token leaves the list a week after it expires. */
export const MAX_REVOKED = 16_000;

const Url = Type.String({ minLength: 1, maxLength: 1_024 });

/** An issuer of OpenID Connect whose tokens are trusted. */
const Issuer = Type.Object(
  {
    /** URL of the issuer, exactly as in the `iss` claim of its tokens. */
    issuer: Url,
    /** Accepted audiences: the `aud` claim of a token must contain one of them. */
    audiences: Type.Array(NonEmpty, { minItems: 1, maxItems: 16 }),
    /** Claim that holds the user's name; absent means `sub`. */
    usernameClaim: Type.Optional(NonEmpty),
    /** Claim that holds the list of the user's groups; absent means `groups`. */
    groupsClaim: Type.Optional(NonEmpty),
    /**
     * Prefix of user names, so that they differ from the names of user tokens and of other issuers; absent means
     * `oidc:`, and an empty text means no prefix.
     */
    usernamePrefix: Type.Optional(Type.String({ maxLength: MAX_NAME_LENGTH })),
    /** Prefix of groups; absent means none. */
    groupsPrefix: Type.Optional(NonEmpty),
    /** Maximum age of the issuer's cached keys while they cannot be fetched again; absent means 24h. */
    jwksMaxAge: Type.Optional(Duration),
  },
  strict,
);

/** The public half of a key with which the global signs user tokens. */
const TokenKey = Type.Object(
  { serial: Type.Integer({ minimum: 0 }), key: Type.String({ minLength: 1, maxLength: 4_096 }) },
  strict,
);

const Spec = Type.Object(
  {
    /** Keys with which zones verify the global's user tokens; written by the global's leader. */
    tokenKeys: Type.Optional(Type.Array(TokenKey, { maxItems: 64 })),
    /** Ids of user tokens that the global revoked; written by the global's leader. */
    revokedTokens: Type.Optional(Type.Array(NonEmpty, { maxItems: MAX_REVOKED })),
    oidc: Type.Optional(Type.Object({ issuers: Type.Array(Issuer, { maxItems: 16 }) }, strict)),
  },
  {
    ...strict,
    examples: [
      {
        oidc: {
          issuers: [
            { issuer: 'https://login.example', audiences: ['causeway'], usernameClaim: 'email', groupsPrefix: 'sso:' },
          ],
        },
      },
    ],
  },
);

/** Authentication of users; only the resource `default` has an effect (docs/guides/access.md). */
export const AuthenticationConfiguration = defineKind({
  name: 'AuthenticationConfiguration',
  plural: 'authenticationconfigurations',
  shortName: 'authn',
  scope: 'global',
  sync: Sync.settings,
  writer: 'admin',
  bounds: { bytes: 1024 * 1024 },
  spec: Spec,
  serverOwned: ['tokenKeys', 'revokedTokens'],
  validate: ({ oidc }, at) => issuerViolations(oidc?.issuers ?? [], at.field('oidc').field('issuers')),
  warn: ({ name }) =>
    name === 'default' ? [] : ['name: only the AuthenticationConfiguration "default" has an effect'],
});

function issuerViolations(issuers: readonly Static<typeof Issuer>[], at: FieldPath): Violation[] {
  const seen = new Set<string>();
  return issuers.flatMap(({ issuer, usernamePrefix, groupsPrefix }, i) => {
    const isTwice = seen.has(issuer);
    seen.add(issuer);
    return [
      ...urlViolations(issuer, at.index(i).field('issuer')),
      ...(isTwice ? [at.index(i).field('issuer').violation(`is there twice: "${issuer}"`)] : []),
      ...reserved(usernamePrefix, at.index(i).field('usernamePrefix')),
      ...reserved(groupsPrefix, at.index(i).field('groupsPrefix')),
    ];
  });
}

const HTTPS = /^https:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/;
const LOOPBACK = /^http:\/\/(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d{1,5})?(\/[^\s?#]*)?$/;

/** Refuses keys fetched without TLS, which an attacker can replace on the way; on the loopback interface nobody can. */
function urlViolations(issuer: string, at: FieldPath): Violation[] {
  if (HTTPS.test(issuer) || LOOPBACK.test(issuer)) return [];
  return [
    at.violation(`must be an https URL without query (http only to this machine); got "${issuer}"`, 'wrong-form'),
  ];
}

function reserved(prefix: string | undefined, at: FieldPath): Violation[] {
  return prefix?.startsWith('causeway:') === true ? [at.violation('must not begin with "causeway:"')] : [];
}
