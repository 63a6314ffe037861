import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { isJsonArray, isJsonObject, type JsonObject } from '@causeway/resources';
import { errorText, SingleFlight, type Clock, type Logger } from '@causeway/runtime';
import type { ResourceStore } from '@causeway/store';
import type { OidcIssuer } from '../authentication-settings';
import { Unauthenticated } from '../../unauthenticated';
import { checkKeySetUrl, type FetchJson } from './fetch-json';

/** Area of the metadata in which key sets survive a restart. */
export const KEY_SETS = 'oidc-keys';

/** Age at which a key set is fetched again, ms: a key that the issuer withdrew stays trusted for that long. */
const REFRESH_INTERVAL = 10 * 60_000;

/** Minimum time between two fetches, ms: tokens with forged key ids do not cause more. */
const COOLDOWN = 30_000;

/** Maximum number of keys of an issuer. */
const MAX_KEYS = 64;

/** Dependencies of IssuerKeys. */
export interface IssuerKeysSources {
  readonly fetchJson: FetchJson;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly store: Pick<ResourceStore, 'readMetadata' | 'listMetadata' | 'write'>;
}

interface KeySet {
  readonly find: JWTVerifyGetKey;
  /** ms since 1970. */
  readonly fetchedAt: number;
}

/**
 * Public keys of one issuer, by discovery: fetched when first needed, then every 10 minutes of use and for an unknown
 * key id. While the issuer cannot be reached, the last keys are used, up to `jwksMaxAge`; they are stored in the
 * metadata, so that they survive a restart.
 */
export class IssuerKeys {
  private held: KeySet | undefined;
  private restored: Promise<void> | undefined;
  private lastFetch = -Infinity;
  private failure = '';
  private readonly flight = new SingleFlight(() => this.fetchKeys());
  private readonly never = new AbortController().signal;

  private isClosed = false;

  constructor(
    readonly settings: OidcIssuer,
    private readonly sources: IssuerKeysSources,
  ) {}

  /** Returns the key of a token. Throws Unauthenticated if the keys are too old or the key is unknown. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    this.restored ??= this.restore();
    await this.restored;
    if (!this.held || this.age() > Math.min(REFRESH_INTERVAL, this.settings.jwksMaxAge)) await this.refresh();
    const known = await this.findKey(header, token);
    if (known) return known;
    await this.refresh();
    const found = await this.findKey(header, token);
    if (!found) throw this.unknownKey(header.kid);
    return found;
  };

  /** Returns undefined if the key is unknown. */
  private async findKey(...of: Parameters<JWTVerifyGetKey>): Promise<Awaited<ReturnType<JWTVerifyGetKey>> | undefined> {
    const { find } = this.current();
    try {
      return await find(...of);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return undefined;
      throw error;
    }
  }

  /** Stops: a key set that arrives later is not stored. */
  close(): void {
    this.isClosed = true;
  }

  private age(): number {
    return this.sources.clock.now() - (this.held?.fetchedAt ?? -Infinity);
  }

  private current(): KeySet {
    const { issuer, jwksMaxAge } = this.settings;
    if (!this.held) throw new Unauthenticated(`the keys of OIDC issuer ${issuer} cannot be fetched: ${this.failure}`);
    if (this.age() <= jwksMaxAge) return this.held;
    throw new Unauthenticated(
      `the keys of OIDC issuer ${issuer} are of ${new Date(this.held.fetchedAt).toISOString()}, older than its jwksMaxAge, and cannot be fetched: ${this.failure}`,
    );
  }

  private unknownKey(kid: unknown): Unauthenticated {
    const name = typeof kid === 'string' ? `"${kid.slice(0, 40)}"` : 'none';
    return new Unauthenticated(`OIDC issuer ${this.settings.issuer} has no key with kid ${name}`);
  }

  /** Fetches the keys unless an attempt was made a moment ago. Never rejects. */
  private async refresh(): Promise<void> {
    const now = this.sources.clock.elapsed();
    if (now - this.lastFetch >= COOLDOWN) {
      this.lastFetch = now;
      this.pending = this.flight.result(this.never).catch((error: unknown) => {
        this.failure = errorText(error).slice(0, 300);
        this.sources.logger.warn('the keys of an OIDC issuer cannot be fetched', {
          issuer: this.settings.issuer,
          error: this.failure,
        });
      });
    }
    await this.pending;
  }

  private pending: Promise<void> = Promise.resolve();

  private async fetchKeys(): Promise<void> {
    const { fetchJson, clock, store } = this.sources;
    const { issuer } = this.settings;
    const found = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const { issuer: named, jwks_uri: uri } = isJsonObject(found) ? found : {};
    if (named !== issuer) throw new Error('its discovery document names another issuer');
    if (typeof uri !== 'string') throw new Error('its discovery document has no jwks_uri');
    checkKeySetUrl(uri, issuer);
    const keys = keysIn(await fetchJson(uri));
    const fetchedAt = clock.now();
    this.held = { find: createKeySet(keys), fetchedAt };
    if (this.isClosed) return;
    const entry = { area: KEY_SETS, key: issuer, value: { keys, fetchedAt } };
    await store.write({ changes: [], onRefusal: 'abort', metadata: [entry] }).catch(() => undefined);
  }

  /** Restores the keys that this or another replica fetched before. */
  private async restore(): Promise<void> {
    const entry = await this.sources.store.readMetadata(KEY_SETS, this.settings.issuer).catch(() => undefined);
    const fetchedAt = entry?.['fetchedAt'];
    const isWhole = typeof fetchedAt === 'number' && isJsonArray(entry?.['keys']);
    if (isWhole) this.held = { find: createKeySet(keysIn(entry)), fetchedAt };
  }
}

/** Removes the stored key sets of issuers that are no longer trusted. */
export async function forgetKeySets(
  store: IssuerKeysSources['store'],
  trusted: readonly Pick<OidcIssuer, 'issuer'>[],
): Promise<void> {
  const gone = (await store.listMetadata(KEY_SETS)).filter(({ key }) => !trusted.some(({ issuer }) => issuer === key));
  if (gone.length === 0) return;
  await store.write({ changes: [], onRefusal: 'abort', metadata: gone.map((entry) => ({ ...entry, value: null })) });
}

function keysIn(document: unknown): readonly JsonObject[] {
  const keys = isJsonObject(document) ? document['keys'] : undefined;
  if (!isJsonArray(keys) || keys.length > MAX_KEYS)
    throw new Error(`its key set is no list of at most ${MAX_KEYS} keys`);
  // Private and symmetric keys do not belong in it.
  return keys.filter(isJsonObject).filter(({ kty, d }) => kty !== 'oct' && d === undefined);
}

function createKeySet(keys: readonly JsonObject[]): JWTVerifyGetKey {
  const set: JSONWebKeySet = {
    keys: keys.flatMap((key) => (typeof key['kty'] === 'string' ? [{ ...key, kty: key['kty'] }] : [])),
  };
  return createLocalJWKSet(set);
}
