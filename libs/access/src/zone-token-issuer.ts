import { randomUUID } from 'node:crypto';
import { checkName, FieldPath, Invalid, Unavailable, type Registry, type Violation } from '@causeway/resources';
import type { Clock, Logger } from '@causeway/runtime';
import type { Expectation, IndexReader, ResourceStore } from '@causeway/store';
import { globalSecretId, isOwnGlobalSecret, putSecret, secretText } from './global-secrets';
import { MAX_SERIAL, generateSigningKey, signingKeyName, signingKeySerial } from './signing-keys';
import { isTokenId, parseRevocations, REVOCATIONS, withRevocation, type TokenTrust } from './token-trust';
import { CP_SCOPE, SCOPES, signZoneToken } from './zone-token';

/** A request for a zone token. */
export interface ZoneTokenRequest {
  readonly zone: string;
  /** A duration such as `720h`. */
  readonly validFor: string;
  /** `["cp"]` by default: the token of a control plane. */
  readonly scope?: readonly string[];
}

/** A new zone token. It is returned once and stored nowhere. */
export interface IssuedZoneToken {
  readonly token: string;
  /** The id that a revocation names. */
  readonly id: string;
  readonly zone: string;
  readonly scope: readonly string[];
  /** RFC 3339. */
  readonly expiresAt: string;
}

/** Dependencies of zone tokens. */
export interface ZoneTokenDependencies {
  readonly store: ResourceStore;
  readonly index: IndexReader;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Longest validity of a token: Kuma's default, 10 years (docs/reference/kuma-rest.md §5.6), ms. */
const MAX_VALIDITY = 10 * 365 * 24 * 3_600_000;

/** A requested validity, or what is wrong with it. */
export type ParsedValidity =
  { readonly ok: true; readonly ms: number } | { readonly ok: false; readonly reason: string };

/** How often a write is tried that conflicts with other writers. */
const TRIES = 10;

/**
 * Issues and revokes zone tokens and rotates their keys, on any replica of the global (docs/design.md §5 Zone tokens).
 */
export class ZoneTokenIssuer {
  constructor(
    private readonly dependencies: ZoneTokenDependencies,
    private readonly trust: TokenTrust,
  ) {}

  /** Issues a token, signed with the newest key. Throws Invalid, and Unavailable if there is no key to sign with. */
  async issue(request: ZoneTokenRequest): Promise<IssuedZoneToken> {
    const { zone, scope = [CP_SCOPE] } = request;
    const validity = parseValidity(request.validFor);
    const violations = [
      ...zoneViolations(zone),
      ...scopeViolations(scope),
      ...(validity.ok ? [] : [FieldPath.at('validFor').violation(validity.reason)]),
    ];
    if (violations.length > 0 || !validity.ok) throw new Invalid(violations);
    const { signer } = this.trust;
    if (!signer) throw new Unavailable('there is no signing key of zone tokens; make one: causeway tokens rotate');
    const now = this.dependencies.clock.now();
    // Tokens have whole seconds.
    const claims = { id: randomUUID(), zone, scope, expiresAt: Math.ceil((now + validity.ms) / 1_000) * 1_000 };
    const token = await signZoneToken(claims, signer, now);
    this.dependencies.logger.info('a zone token was issued', { zone, id: claims.id, scope, kid: signer.serial });
    return { token, id: claims.id, zone, scope, expiresAt: new Date(claims.expiresAt).toISOString() };
  }

  /**
   * Revokes a token on every replica within moments; the streams of its zone end. Idempotent. Throws Invalid,
   * Unavailable.
   */
  async revoke(id: string): Promise<void> {
    if (!isTokenId(id)) {
      const reason = `must be the id (jti) of a zone token, a UUID; got "${id.slice(0, 50)}"`;
      throw new Invalid([FieldPath.at('id').violation(reason)]);
    }
    await this.untilWritten(async () => {
      const held = await this.dependencies.store.get(globalSecretId(REVOCATIONS));
      const list = held ? secretText(held) : '';
      if (parseRevocations(list).has(id)) return undefined;
      return { name: REVOCATIONS, text: withRevocation(list, id), expect: held?.revision ?? 'absent' };
    });
    this.dependencies.logger.info('a zone token was revoked', { id });
  }

  /** Makes a signing key with a new highest serial and resolves with it. Tokens of the other keys stay valid. */
  async rotate(): Promise<number> {
    const text = await generateSigningKey();
    let serial = 0;
    await this.untilWritten(() => {
      serial = this.nextSerial(serial);
      return Promise.resolve({ name: signingKeyName(serial), text, expect: 'absent' as const });
    });
    this.dependencies.logger.info('a signing key of zone tokens was made', { serial });
    return serial;
  }

  /** Makes the first signing key if there is none. Replicas that start together agree on one. */
  async ensureKey(): Promise<void> {
    if (this.trust.signer) return;
    const name = signingKeyName(this.nextSerial(0));
    const revision = await this.write({ name, text: await generateSigningKey(), expect: 'absent' });
    if (revision !== undefined)
      this.dependencies.logger.info('the first signing key of zone tokens was made', { secret: name });
    await this.dependencies.index.reached(await this.dependencies.store.head());
  }

  /**
   * A serial above `tried` and all used ones. Serials of deleted keys are not reused as long as their tombstones exist,
   * or their tokens would be verified with another key. If the highest serial is used, the lowest free one.
   */
  private nextSerial(tried: number): number {
    const { index } = this.dependencies;
    const living = [...index.ofKind(globalSecretId('').kind)].map(({ id }) => id);
    const gone = [...index.tombstones()].map(({ id }) => id);
    const ids = [...living, ...gone].filter(isOwnGlobalSecret);
    const used = new Set(ids.map(({ name }) => signingKeySerial(name) ?? 0));
    let newest = tried;
    for (const serial of used) newest = Math.max(newest, serial);
    if (newest < MAX_SERIAL) return newest + 1;
    let free = tried < MAX_SERIAL ? tried + 1 : 1;
    while (used.has(free)) free++;
    return free;
  }

  /**
   * Writes what `next` returns, and calls it again after a conflict. `next` returns undefined if there is nothing to
   * do.
   */
  private async untilWritten(next: () => Promise<SecretWrite | undefined>): Promise<void> {
    for (let tries = 0; tries < TRIES; tries++) {
      const write = await next();
      const revision = write && (await this.write(write));
      if (write && revision === undefined) continue;
      if (revision !== undefined) await this.dependencies.index.reached(revision);
      return;
    }
    throw new Unavailable('others keep writing the same secret; try again');
  }

  private async write({ name, text, expect }: SecretWrite): Promise<number | undefined> {
    const change = putSecret(this.dependencies.registry, name, text, expect);
    const { revision, results } = await this.dependencies.store.write({ changes: [change], onRefusal: 'skip' });
    return results[0]?.type === 'refused' ? undefined : revision;
  }
}

interface SecretWrite {
  readonly name: string;
  readonly text: string;
  readonly expect: Expectation;
}

function zoneViolations(zone: string): Violation[] {
  const at = FieldPath.at('zone');
  if (zone.length > 63) return [at.violation(`must not be longer than 63 characters, has ${zone.length}`)];
  return [...checkName(zone, at)];
}

function scopeViolations(scope: readonly string[]): Violation[] {
  const at = FieldPath.at('scope');
  if (scope.length === 0) return [at.violation(`must name at least one of ${SCOPES.join(', ')}`)];
  return scope.flatMap((name, i) =>
    SCOPES.some((known) => known === name)
      ? []
      : [at.index(i).violation(`must be one of ${SCOPES.join(', ')}; got "${name}"`)],
  );
}

/** Reads a duration as Go and Kuma write it: `720h`, `1h30m`. */
export function parseValidity(text: unknown): ParsedValidity {
  const wanted = 'must be a duration such as 720h or 1h30m';
  if (typeof text !== 'string' || !/^(\d{1,9}(ms|s|m|h))+$/.test(text)) return { ok: false, reason: wanted };
  const parts = [...text.matchAll(/(\d+)(ms|s|m|h)/g)];
  const ms = parts.reduce((sum, [, count = '0', unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
  if (ms < 1_000) return { ok: false, reason: `${wanted}, at least 1s; got "${text}"` };
  return ms > MAX_VALIDITY
    ? { ok: false, reason: `must not be longer than 87600h (10 years); got "${text}"` }
    : { ok: true, ms };
}
