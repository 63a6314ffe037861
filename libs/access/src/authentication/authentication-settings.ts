import { globalIdentity, isJsonArray, isJsonObject, type JsonObject, type Resource } from '@causeway/resources';
import { followIndex, type IndexReader } from '@causeway/store';
import { isTextList, type TrustedKeys } from '../tokens/signed-token';
import { parseSigningKey, type SigningKey } from '../tokens/signing-keys';
import { parseValidity } from '../tokens/validity';

/** An OIDC issuer that is trusted, with its defaults filled in. */
export interface OidcIssuer {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly usernameClaim: string;
  readonly groupsClaim: string;
  readonly usernamePrefix: string;
  readonly groupsPrefix: string;
  /** Maximum age of cached keys if they cannot be fetched again, ms. */
  readonly jwksMaxAge: number;
}

/** The identity of the one AuthenticationConfiguration. */
export const AUTHENTICATION_ID = globalIdentity('AuthenticationConfiguration', 'default');

const DEFAULT_MAX_AGE = 24 * 3_600_000;

/** Prefix of the names of an issuer's users: a RoleBinding must name the user with it. */
const DEFAULT_USERNAME_PREFIX = 'oidc:';

/**
 * Settings of the stored AuthenticationConfiguration, decoded once for each change; follows the index until `close`.
 */
export class AuthenticationSettings {
  private resource: Resource | undefined;
  private keys: TrustedKeys = { keys: new Map(), revoked: new Set() };
  private oidc: readonly OidcIssuer[] = [];
  private readonly listeners = new Set<() => void>();
  private readonly unsubscribe: () => void;

  constructor(private readonly index: IndexReader) {
    this.read();
    this.unsubscribe = followIndex(index, {
      reload: () => this.readAgain(),
      apply: (changes) => {
        if (changes.some(({ id }) => id.kind === AUTHENTICATION_ID.kind)) this.readAgain();
      },
    });
  }

  /** Public keys and revocations of the global. */
  get trustedKeys(): TrustedKeys {
    return this.keys;
  }

  get issuers(): readonly OidcIssuer[] {
    return this.oidc;
  }

  /** Calls `listener` after each change, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  close(): void {
    this.unsubscribe();
  }

  private readAgain(): void {
    this.read();
    for (const listener of this.listeners) listener();
  }

  private read(): void {
    const resource = this.index.get(AUTHENTICATION_ID);
    if (resource === this.resource) return;
    this.resource = resource;
    const { tokenKeys, revokedTokens, oidc } = resource?.spec ?? {};
    const keys = objectsIn(tokenKeys).flatMap(readKey);
    const revoked = isTextList(revokedTokens) ? revokedTokens : [];
    this.keys = { keys: new Map(keys.map((key) => [key.serial, key])), revoked: new Set(revoked) };
    this.oidc = objectsIn(isJsonObject(oidc) ? oidc['issuers'] : undefined).flatMap(readIssuer);
  }
}

function objectsIn(value: unknown): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}

function readKey({ serial, key }: JsonObject): readonly SigningKey[] {
  const parsed = typeof serial === 'number' && typeof key === 'string' ? parseSigningKey(serial, key) : undefined;
  return parsed?.ok === true ? [parsed.key] : [];
}

function readIssuer(spec: JsonObject): readonly OidcIssuer[] {
  const { issuer, audiences, jwksMaxAge } = spec;
  if (typeof issuer !== 'string' || !isTextList(audiences)) return [];
  const maxAge = parseValidity(jwksMaxAge);
  const readTextSetting = (key: string, absent: string): string => {
    const value = spec[key];
    return typeof value === 'string' ? value : absent;
  };
  return [
    {
      issuer,
      audiences,
      usernameClaim: readTextSetting('usernameClaim', 'sub'),
      groupsClaim: readTextSetting('groupsClaim', 'groups'),
      usernamePrefix: readTextSetting('usernamePrefix', DEFAULT_USERNAME_PREFIX),
      groupsPrefix: readTextSetting('groupsPrefix', ''),
      jwksMaxAge: maxAge.ok ? maxAge.ms : DEFAULT_MAX_AGE,
    },
  ];
}
