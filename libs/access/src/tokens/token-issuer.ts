import { randomUUID } from 'node:crypto';
import { MAX_REVOKED } from '@causeway/kinds';
import {
  Conflict,
  FieldPath,
  Invalid,
  ownZone,
  Unavailable,
  type ControlPlane,
  type JsonObject,
  type Registry,
} from '@causeway/resources';
import type { Clock, Logger } from '@causeway/runtime';
import { waitUntilReached, type IndexReader, type ResourceStore } from '@causeway/store';
import { globalSecretId, isOwnGlobalSecret, putSecret, secretText, type SecretWrite } from '../global-secrets';
import { generateSigningKey, MAX_SERIAL, signingKeyName, signingKeySerial } from './signing-keys';
import { signToken } from './signed-token';
import { TokenRecords, type TokenRecord } from './token-records';
import { formatEnd, parseEnds, parseRevocations, type TokenTrust } from './token-trust';
import type { TokenDefinition, TokenFacts, TokenRequest } from './token-definition';
import { parseValidity, validityViolations } from './validity';

/** Dependencies of tokens. */
export interface TokenDependencies {
  readonly cp: ControlPlane;
  readonly store: ResourceStore;
  readonly index: IndexReader;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A new token. It is returned once and stored nowhere. */
export interface IssuedToken {
  readonly token: string;
  /** The id that a revocation names. */
  readonly id: string;
  /** RFC 3339. */
  readonly expiresAt: string;
}

/** A token to sign. */
interface SigningOrder {
  readonly claims: JsonObject;
  readonly facts: JsonObject;
  /** ms. */
  readonly validity: number;
  readonly issuedBy: string;
  /** Of a renewed token. */
  readonly lineage?: Pick<TokenRecord, 'line' | 'generation' | 'holder'>;
}

/** A token as lists show it. */
export interface ListedToken extends TokenRecord {
  readonly revoked: boolean;
}

/** Maximum number of tries of a write that conflicts with other writers. */
const MAX_TRIES = 10;

/** Issues, lists and revokes tokens of one use, and rotates their keys, on any replica. */
export class TokenIssuer<Request extends TokenRequest, Answer extends object, Claims extends TokenFacts> {
  private readonly records: TokenRecords;

  constructor(
    private readonly use: TokenDefinition<Request, Answer, Claims>,
    private readonly dependencies: TokenDependencies,
    private readonly trust: TokenTrust,
  ) {
    this.records = new TokenRecords(dependencies.store, dependencies.clock, use);
  }

  /**
   * Issues a token, signed with the newest key. Throws Invalid, Unavailable if there is no key to sign with, Conflict if
   * too many are valid.
   */
  async issue(request: Request): Promise<IssuedToken & Answer> {
    const { cp } = this.dependencies;
    const { validFor, makesFirstKey = false } = this.use;
    const violations = this.use.violations(request, cp);
    const validity = parseValidity(request.validFor ?? validFor);
    if (violations.length > 0 || !validity.ok)
      throw new Invalid(violations.length > 0 ? violations : validityViolations(validity));
    const { claims, facts, answer } = this.use.order(request, cp);
    if (makesFirstKey) await this.ensureKey();
    const { issuedBy = '' } = request;
    return { ...(await this.sign({ claims, facts, validity: validity.ms, issuedBy })), ...answer };
  }

  /** Signs and records a token whose order was checked. Throws Unavailable, Conflict. */
  async sign({ claims, facts, validity, issuedBy, lineage }: SigningOrder): Promise<IssuedToken> {
    const { clock, logger } = this.dependencies;
    const { name } = this.use;
    const { signer } = this.trust;
    if (!signer) throw new Unavailable(`there is no signing key of ${name}s; make one: causeway tokens rotate`);
    const now = clock.now();
    // Tokens have whole seconds.
    const expiresAt = Math.ceil((now + validity) / 1_000) * 1_000;
    const id = randomUUID();
    const token = await signToken(claims, { id, expiresAt }, signer, now);
    await this.records.add({ id, facts, issuedAt: now, expiresAt, issuedBy, ...lineage });
    logger.info(`a ${name} was issued`, { ...facts, id, kid: signer.serial, issuedBy });
    return { token, id, expiresAt: new Date(expiresAt).toISOString() };
  }

  /** Records what is known of a token anew. */
  record(token: TokenRecord): Promise<void> {
    return this.records.put(token);
  }

  /** Lets tokens that were renewed end at a time, ms since 1970; for one that already has an end that stays. Idempotent. */
  async endAt(ids: readonly string[], endsAt: number): Promise<void> {
    await this.changeRevocations((revoked) => {
      const ends = parseEnds(revoked);
      const marks = ids.filter((id) => !ends.has(id)).map((id) => formatEnd(id, endsAt));
      return revoked.size + marks.length > MAX_REVOKED ? revoked : new Set([...revoked, ...marks]);
    });
  }

  /** Returns the tokens that are valid or expired within the last week; the first to expire first. */
  async list(): Promise<readonly ListedToken[]> {
    const { revoked } = this.trust.trustedKeys;
    return (await this.records.list()).map((record) => ({ ...record, revoked: revoked.has(record.id) }));
  }

  /**
   * Revokes a token, and all of its line, on every replica within moments; their streams end. Idempotent. The id of an unlisted token is
   * revoked as well; the result warns about it. Throws Invalid, Unavailable, and Conflict if too many tokens are
   * revoked.
   */
  async revoke(id: string): Promise<readonly string[]> {
    if (!isTokenId(id)) {
      const reason = `must be the id (jti) of a ${this.use.name}, a UUID; got "${id.slice(0, 50)}"`;
      throw new Invalid([FieldPath.at('id').violation(reason)]);
    }
    // Tokens have their id in lower case; the user may have copied it from elsewhere.
    const jti = id.toLowerCase();
    const records = await this.records.list();
    const line = records.find(({ id: each }) => each === jti)?.line ?? jti;
    const ids = records.filter((each) => each.line === line).map((each) => each.id);
    await this.changeRevocations((revoked) => [...ids, line, jti].reduce(this.withRevoked, revoked));
    this.dependencies.logger.info(`a ${this.use.name} was revoked`, { id: jti });
    if (records.some(({ id: each }) => each === jti)) return [];
    return [`no ${this.use.name} with id ${jti} is on record here: is it the right id? It is revoked all the same`];
  }

  /**
   * Revokes a token that is not revoked yet. Resolves with true for one caller alone, of all callers at all replicas; with false
   * if it was revoked before. Throws Unavailable, and Conflict if too many are revoked.
   */
  async revokeOnce(id: string): Promise<boolean> {
    let isFirst = false;
    await this.changeRevocations((revoked) => {
      isFirst = !revoked.has(id);
      return isFirst ? this.withRevoked(revoked, id) : revoked;
    });
    return isFirst;
  }

  /** Throws Conflict instead of forgetting an older revocation: its token would be accepted again. */
  private readonly withRevoked = (revoked: ReadonlySet<string>, id: string): ReadonlySet<string> => {
    if (revoked.size < MAX_REVOKED || revoked.has(id)) return new Set([...revoked, id]);
    const { name, signingKey } = this.use;
    throw new Conflict(
      `${revoked.size} ${name}s are revoked, the most is ${MAX_REVOKED}; end all tokens of an older key instead: causeway tokens rotate, then delete the GlobalSecret ${signingKey}-N of that key and remove the ids of its tokens from the GlobalSecret ${this.use.revocations}`,
    );
  };

  /** Forgets tokens that expired a week ago, and their revocations. A leader calls it periodically. */
  async purge(): Promise<void> {
    const gone = new Set(await this.records.purge());
    if (gone.size === 0) return;
    await this.changeRevocations(
      (revoked) => new Set([...revoked].filter((entry) => !gone.has(entry.replace(/@.*$/, '')))),
    );
    this.dependencies.logger.debug(`expired ${this.use.name}s were forgotten`, { tokens: gone.size });
  }

  /** Creates a signing key with a new highest serial and resolves with it. Tokens of the other keys stay valid. */
  async rotate(): Promise<number> {
    const text = await generateSigningKey();
    let serial = 0;
    await this.untilWritten(() => {
      serial = this.nextSerial(serial);
      return Promise.resolve({ name: signingKeyName(this.use, serial), text, expect: 'absent' as const });
    });
    this.dependencies.logger.info(`a signing key of ${this.use.name}s was made`, { serial });
    return serial;
  }

  /** Creates the first signing key if there is none. Replicas that start together agree on one. */
  async ensureKey(): Promise<void> {
    if (this.trust.signer) return;
    const name = signingKeyName(this.use, this.nextSerial(0));
    const revision = await this.write({ name, text: await generateSigningKey(), expect: 'absent' });
    if (revision !== undefined)
      this.dependencies.logger.info(`the first signing key of ${this.use.name}s was made`, { secret: name });
    const { index, store, clock } = this.dependencies;
    await waitUntilReached(index, await store.head(), clock);
  }

  private changeRevocations(change: (revoked: ReadonlySet<string>) => ReadonlySet<string>): Promise<void> {
    const name = this.use.revocations;
    return this.untilWritten(async () => {
      const held = await this.dependencies.store.get(globalSecretId(name, this.zone));
      const before = parseRevocations(held ? secretText(held) : '');
      const after = change(before);
      if (after.size === before.size) return undefined;
      return { name, text: [...after].join(','), expect: held?.revision ?? 'absent' };
    });
  }

  private get zone(): string {
    return ownZone(this.dependencies.cp);
  }

  /**
   * Returns a serial above `tried` and all used ones. Serials of deleted keys are not reused as long as their
   * tombstones exist, or their tokens would be verified with another key. If the highest serial is used, the lowest
   * free one.
   */
  private nextSerial(tried: number): number {
    const { index } = this.dependencies;
    const living = [...index.ofKind(globalSecretId('').kind)].map(({ id }) => id);
    const gone = [...index.tombstones()].map(({ id }) => id);
    const ids = [...living, ...gone].filter((id) => isOwnGlobalSecret(id, this.zone));
    const used = new Set(ids.map(({ name }) => signingKeySerial(this.use, name) ?? 0));
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
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const write = await next();
      const revision = write && (await this.write(write));
      if (write && revision === undefined) continue;
      const { index, clock } = this.dependencies;
      if (revision !== undefined) await waitUntilReached(index, revision, clock);
      return;
    }
    throw new Unavailable('others keep writing the same secret; try again');
  }

  private async write(secret: SecretWrite): Promise<number | undefined> {
    const { registry, cp, store } = this.dependencies;
    const change = putSecret(registry, secret, cp);
    const { revision, results } = await store.write({ changes: [change], onRefusal: 'skip' });
    return results[0]?.type === 'refused' ? undefined : revision;
  }
}

/** Whether it is a UUID, as the ids of our tokens and Kuma's are. */
function isTokenId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
