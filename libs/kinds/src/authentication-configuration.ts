import { Type, type Static } from 'typebox';
import { defineKind, Sync, type FieldPath, type Violation } from '@causeway/resources';
import { Duration, MAX_NAME_LENGTH, NonEmpty, strict } from './schema/schema-parts';

/** Maximum number of revoked tokens that are sent to zones; a token leaves the list a week after its end. */
export const MAX_REVOKED = 16_000;

const Url = Type.String({ minLength: 1, maxLength: 1_024 });

/** An issuer of OpenID Connect whose tokens are trusted. */
const Issuer = Type.Object(
  {
    /** Its URL, exactly as its tokens have it in `iss`. */
    issuer: Url,
    /** A token must be for one of them (`aud`). */
    audiences: Type.Array(NonEmpty, { minItems: 1, maxItems: 16 }),
    /** The claim with the user's name; absent means `sub`. */
    usernameClaim: Type.Optional(NonEmpty),
    /** The claim with the list of the user's groups; absent means `groups`. */
    groupsClaim: Type.Optional(NonEmpty),
    /**
     * Put before names, so that they are not taken for those of user tokens or of another issuer; absent means `oidc:`, and
     * only an empty text leaves names as they are.
     */
    usernamePrefix: Type.Optional(Type.String({ maxLength: MAX_NAME_LENGTH })),
    /** Put before groups; absent means that they stay as they are. */
    groupsPrefix: Type.Optional(NonEmpty),
    /** Maximum age of cached keys of the issuer if they cannot be fetched again; absent means 24h. */
    jwksMaxAge: Type.Optional(Duration),
  },
  strict,
);

/** The public half of a signing key of the global's user tokens. */
const TokenKey = Type.Object(
  { serial: Type.Integer({ minimum: 0 }), key: Type.String({ minLength: 1, maxLength: 4_096 }) },
  strict,
);

const Spec = Type.Object(
  {
    /** Written by the global's leader: by these keys zones verify the global's user tokens. */
    tokenKeys: Type.Optional(Type.Array(TokenKey, { maxItems: 64 })),
    /** Written by the global's leader: the ids of user tokens that it revoked. */
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

/** Authentication of users; one resource, `default` (docs/guides/access.md). */
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

/** Keys that are fetched without TLS could be anybody's; from this machine they cannot be changed on the way. */
function urlViolations(issuer: string, at: FieldPath): Violation[] {
  if (HTTPS.test(issuer) || LOOPBACK.test(issuer)) return [];
  return [
    at.violation(`must be an https URL without query (http only to this machine); got "${issuer}"`, 'wrong-form'),
  ];
}

function reserved(prefix: string | undefined, at: FieldPath): Violation[] {
  return prefix?.startsWith('causeway:') === true ? [at.violation('must not begin with "causeway:"')] : [];
}
