import { createHash } from 'node:crypto';
import { Conflict, FieldPath, Forbidden, Invalid } from '@causeway/resources';
import { BoundedMap, errorText, type Clock, type Logger } from '@causeway/runtime';
import { Unauthenticated } from '../unauthenticated';
import { LINE_CLAIM } from '../tokens/signed-token';
import type { IssuedToken, ListedToken } from '../tokens/token-issuer';
import type { TokenRecord } from '../tokens/token-records';
import { CP_SCOPE, GENERATION_CLAIM, requireScope, type ZoneClaims, type ZoneTokenFamily } from './zone-token';

/** Time for which a renewed token is valid once its successor was used, ms. */
const GRACE = 3_600_000;

/** Part of its validity after which a token may be renewed: bounds how many tokens a line has. */
const RENEWABLE_FROM = 1 / 2;

/** Maximum number of valid tokens of one line: a holder whose answers are lost renews again. */
const MAX_IN_LINE = 32;

/** Minimum length of a holder's secret, characters. */
const MIN_SECRET_LENGTH = 32;

/** Maximum number of tokens whose use is remembered. */
const MAX_USED = 10_000;

/** A request of a zone for the successor of its token. */
export interface ZoneTokenRenewalRequest {
  readonly zone: string;
  /** The store that the zone's name is bound to. */
  readonly storeId: string;
  readonly token: string;
  /** Secret of the zone's store: two holders of a stolen token differ by it. */
  readonly secret: string;
  /** The zone's replica. */
  readonly instance: string;
}

/**
 * Renewals of zone tokens of control planes at one replica of the global. A renewed token belongs to the line of the first one. The holder
 * who renews first keeps the line; the try of another one is refused and recorded.
 */
export class ZoneTokenRenewals {
  /** Number of tries by another holder since the start. */
  contested = 0;
  private readonly used = new BoundedMap<true>(MAX_USED);
  private readonly shown = new BoundedMap<true>(MAX_USED);

  constructor(
    private readonly family: Pick<ZoneTokenFamily, 'verify' | 'tokens'>,
    private readonly options: { readonly clock: Pick<Clock, 'now'>; readonly logger: Logger },
  ) {}

  /**
   * Issues the successor of a valid token, for as long as that one was issued for. May be called again when the answer was lost. Throws
   * Unauthenticated, Forbidden (another zone, scope or holder, `--no-renew`), Conflict (too early, too often), Unavailable.
   */
  async renew({ zone, storeId, token, secret, instance }: ZoneTokenRenewalRequest): Promise<IssuedToken> {
    if (secret.length < MIN_SECRET_LENGTH)
      throw new Invalid([
        FieldPath.at('secret').violation(`must have at least ${MIN_SECRET_LENGTH} characters`, 'too-short'),
      ]);
    const claims = await this.family.verify(token);
    this.check(claims, zone);
    const holder = createHash('sha256').update(`${storeId}/${secret}`).digest('hex');
    const before = await this.recordsOf(claims.line);
    if (before.some(({ revoked }) => revoked)) throw new Unauthenticated(`the line of the zone token is revoked`);
    if (isOfAnother(before, holder)) throw await this.refuseOther(claims, before, instance);
    const valid = before.filter(({ expiresAt }) => expiresAt > this.options.clock.now());
    if (valid.length >= MAX_IN_LINE)
      throw new Conflict(
        `the line of the zone token has ${MAX_IN_LINE} valid tokens, the most; they end by themselves`,
      );
    const issued = await this.issue(claims, holder, before);
    // Of two that renew at once, at two replicas, the later one sees the other one now, or each does: clocks do not tell who was first.
    const after = await this.recordsOf(claims.line);
    if (after.some((record) => record.holder !== undefined && record.holder !== holder)) {
      await this.disown(issued.id, after);
      throw await this.refuseOther(claims, after, instance);
    }
    this.options.logger.info('a zone token was renewed', {
      zone,
      id: issued.id,
      formerId: claims.id,
      line: claims.line,
    });
    return issued;
  }

  /** Lets the earlier tokens of the line end within an hour, now that this one is used. Never rejects. */
  async markUsed({ id, line, generation }: ZoneClaims): Promise<void> {
    if (generation === 0 || this.used.get(id)) return;
    this.used.set(id, true);
    try {
      const records = await this.recordsOf(line);
      const former = records.filter((record) => record.id !== id && (record.generation ?? 0) <= generation);
      const ids = new Set([line, ...former.map((record) => record.id)]);
      await this.family.tokens.endAt([...ids], this.options.clock.now() + GRACE);
    } catch (error) {
      this.used.delete(id);
      this.options.logger.warn('the end of renewed zone tokens could not be recorded', {
        line,
        error: errorText(error),
      });
    }
  }

  /**
   * Records that a token was shown after its end: by a replica of the zone that did not read the renewed one (of an older version, or of a store
   * restored from a backup), or by a thief; also where the thief renewed it and it is the zone that shows its own. Never rejects.
   */
  async recordEnded(zone: string, id: string): Promise<void> {
    if (this.shown.get(id)) return;
    this.shown.set(id, true);
    this.contested += 1;
    this.options.logger.error('a zone token is shown that was renewed and has ended: its renewed one may be stolen', {
      zone,
      id,
    });
    try {
      const found = (await this.family.tokens.list()).find((record) => record.id === id);
      if (found) await this.recordContest(found);
    } catch (error) {
      this.shown.delete(id);
      this.options.logger.warn('the use of a zone token could not be recorded', { zone, id, error: errorText(error) });
    }
  }

  private check(claims: ZoneClaims, zone: string): void {
    const { id, validity, issuedAt } = claims;
    if (claims.zone !== zone)
      throw new Forbidden(`the zone token is of zone "${claims.zone}", the caller is "${zone}"`);
    requireScope(claims, CP_SCOPE);
    if (!claims.isRenewable) throw new Forbidden(`the zone token ${id} was issued with --no-renew`);
    const from = issuedAt + validity * RENEWABLE_FROM;
    if (this.options.clock.now() < from)
      throw new Conflict(`the zone token ${id} may be renewed from ${new Date(from).toISOString()} on`);
  }

  private issue(claims: ZoneClaims, holder: string, records: readonly ListedToken[]): Promise<IssuedToken> {
    const { zone, scope, line, validity } = claims;
    const generation = claims.generation + 1;
    const former = records.find(({ id }) => id === claims.id);
    return this.family.tokens.sign({
      claims: { Zone: zone, Scope: [...scope], [LINE_CLAIM]: line, [GENERATION_CLAIM]: generation },
      facts: { zone, scope: [...scope] },
      validity,
      issuedBy: former?.issuedBy ?? '',
      lineage: { line, generation, holder },
    });
  }

  /** Records and logs the try of another holder, and returns its refusal. */
  private async refuseOther(claims: ZoneClaims, records: readonly ListedToken[], instance: string): Promise<Forbidden> {
    const { zone, id, line, scope, issuedAt, expiresAt } = claims;
    this.contested += 1;
    this.options.logger.error('a zone token was renewed by two holders: it may be stolen', {
      zone,
      id,
      line,
      instance,
    });
    const known = records.find((record) => record.id === id);
    await this.recordContest(known ?? { id, facts: { zone, scope: [...scope] }, issuedAt, expiresAt, issuedBy: '' });
    return new Forbidden(
      `the zone token ${id} is renewed by another holder: it may be stolen; on the global: causeway tokens revoke ${line}, then causeway tokens zone ${zone}`,
    );
  }

  /** Takes the line from the holder of a token that was not handed out. */
  private async disown(id: string, records: readonly ListedToken[]): Promise<void> {
    const issued = records.find((record) => record.id === id);
    if (!issued) return;
    const { revoked: _revoked, holder: _holder, ...left } = issued;
    await this.family.tokens.record(left);
  }

  private recordContest({
    id,
    facts,
    issuedAt,
    expiresAt,
    issuedBy,
    line,
    generation,
    holder,
  }: TokenRecord): Promise<void> {
    const lineage = {
      ...(line !== undefined && { line }),
      ...(generation !== undefined && { generation }),
      ...(holder !== undefined && { holder }),
    };
    const contestedAt = this.options.clock.now();
    return this.family.tokens.record({ id, facts, issuedAt, expiresAt, issuedBy, ...lineage, contestedAt });
  }

  private async recordsOf(line: string): Promise<readonly ListedToken[]> {
    return (await this.family.tokens.list()).filter((record) => record.id === line || record.line === line);
  }
}

/** Whether the first renewal of a line was by another holder. */
function isOfAnother(records: readonly ListedToken[], holder: string): boolean {
  const renewals = records.filter((record) => record.holder !== undefined);
  const [first] = renewals.sort((a, b) => a.issuedAt - b.issuedAt || (a.id < b.id ? -1 : 1));
  return first !== undefined && first.holder !== holder;
}
