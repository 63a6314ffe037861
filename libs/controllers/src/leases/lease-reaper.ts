import { isJsonObject, type JsonObject } from '@causeway/resources';
import { splitIntoBatches, inTimedSlices, type Clock, type LeaderTerm, type Logger } from '@causeway/runtime';
import type {
  AgentLeaseStore,
  IndexReader,
  LeaseKey,
  LeaseSurvey,
  MetadataEntry,
  ResourceStore,
} from '@causeway/store';
import type { LeaseHealth } from './lease-conditions';
import { LEASED_BY, planLeaseEnds } from './plan-lease-ends';

export interface LeaseReaperOptions {
  readonly zone: string;
  readonly leases: AgentLeaseStore;
  readonly store: Pick<ResourceStore, 'readMetadata' | 'write'>;
  readonly index: IndexReader;
  readonly term: LeaderTerm;
  /** The duration of a lease without a heartbeat, ms (CAUSEWAY_AGENT_LEASE). */
  readonly length: number;
  /** See LeaseEndsView (CAUSEWAY_LEASE_HOLD). */
  readonly hold: number;
  readonly health: LeaseHealth;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Counts of the leader's leases, for metrics. */
export interface LeaseCounts {
  readonly total: number;
  readonly expired: number;
  readonly isHeld: boolean;
  readonly ended: number;
}

/** Consecutive passes without a gap, by `Clock.elapsed`. */
interface ExpiryWatch {
  readonly since: number;
  readonly at: number;
  readonly storeAt: number;
  /** The number of leases that had expired at the last pass, and the time at which the number last decreased. */
  readonly expired: number;
  readonly fellAt: number;
  /** Whether agents have had their time to come back since the first pass, and no longer do. */
  readonly isOver: boolean;
}

/** Maximum pause of an agent between two attempts to attach, ms. */
export const MAX_PAUSE = 5_000;
/** After a gap of this length between two passes the leader knows nothing about the time in between, ms. */
const MAX_GAP = 5_000;
/** Maximum drift between the clocks of store and process between two passes, ms. */
const MAX_DRIFT = 2_000;
/** The maximum time after a gap in which no lease is ended as long as agents come back, ms: a storm of them may last longer than a lease. */
const MAX_RETURN = 60_000;
/** Maximum number of leases that are ended in one transaction. */
const MAX_BATCH_SIZE = 500;
/** Interval of the search for Dataplanes that have the lease label and no lease, ms. */
const ADOPTION_INTERVAL = 300_000;
/** Interval at which all leases are read, ms: a read of changes does not show deleted leases. */
const FULL_READ_INTERVAL = 600_000;
/** The maximum delay until a change becomes visible after its time, ms. */
const COMMIT_DELAY = 10_000;

const AREA = 'agent-leases';
/** The entry of a held mass end: its start, and the numbers of expired and of all leases. */
const HOLD_ENTRY = { area: AREA, key: 'hold' } as const;
/** The entry of a release of expired leases: its end, and its author. */
const RELEASE_ENTRY = { area: AREA, key: 'release' } as const;

/**
 * Ends the leases of agents that are gone, each with its Dataplane in one transaction (docs/reference/leases.md). It starts one lease duration and
 * the longest pause of an agent after its first pass, and starts over after a gap: an outage of a control plane or of the store, or a jump of the
 * clock, ends no lease.
 */
export class LeaseReaper {
  private watched: ExpiryWatch | undefined;
  private ended: { readonly at: number; readonly count: number }[] = [];
  private adoptedAt: number | undefined;
  private changesRead = 0;
  private readWholeAt: number | undefined;
  private isHolding: boolean | undefined;
  private counted: LeaseCounts = { total: 0, expired: 0, isHeld: false, ended: 0 };

  constructor(private readonly options: LeaseReaperOptions) {}

  get counts(): LeaseCounts {
    return this.counted;
  }

  /** Runs one pass. Throws Unavailable, Fenced. */
  async turn(): Promise<void> {
    const { leases, hold } = this.options;
    const [survey] = await Promise.all([leases.survey(MAX_BATCH_SIZE), this.readHealth()]);
    this.watched = this.watch(survey);
    this.count(survey);
    if (!this.watched.isOver) return;
    await this.adoptOrphans();
    const recent = this.recent(survey.now);
    const releasedUntil = this.isHolding === true ? await this.releasedUntil() : undefined;
    const { end, isHeld } = planLeaseEnds({
      ...survey,
      recent,
      hold,
      ...(releasedUntil !== undefined && { releasedUntil }),
    });
    if (isHeld !== this.isHolding) await this.reportHold(isHeld, survey);
    if (end.length > 0) await this.end(end, survey.now);
    this.count(survey);
  }

  private watch({ now: storeAt, expiredTotal: expired }: LeaseSurvey): ExpiryWatch {
    const at = this.options.clock.elapsed();
    const before = this.watched;
    const passed = before ? at - before.at : Infinity;
    const isWhole = before && passed < MAX_GAP && Math.abs(storeAt - before.storeAt - passed) < MAX_DRIFT;
    if (!isWhole) return { since: at, at, storeAt, expired, fellAt: at, isOver: false };
    const fellAt = expired < before.expired ? at : before.fellAt;
    const watched = at - before.since;
    const isReturning = at - fellAt < MAX_PAUSE && watched < MAX_RETURN;
    const isOver = before.isOver || (watched >= this.options.length + MAX_PAUSE && !isReturning);
    return { ...before, at, storeAt, expired, fellAt, isOver };
  }

  private async end(expired: LeaseSurvey['expired'], now: number): Promise<void> {
    const { leases, zone, term, logger } = this.options;
    const ended = await leases.end(expired, { zone, fence: term });
    if (ended.length === 0) return;
    this.ended.push({ at: now, count: ended.length });
    this.counted = { ...this.counted, ended: this.counted.ended + ended.length };
    for (const { mesh, name } of ended.slice(0, 10))
      logger.info('the agent of a Dataplane is gone: it is removed', { mesh, name });
    if (ended.length > 10)
      logger.info('agents of Dataplanes are gone: these are removed', { dataplanes: ended.length });
  }

  private recent(now: number): number {
    this.ended = this.ended.filter(({ at }) => at > now - this.options.length);
    return this.ended.reduce((sum, { count }) => sum + count, 0);
  }

  private async reportHold(isHeld: boolean, { total, expiredTotal: expired, now }: LeaseSurvey): Promise<void> {
    const { store, term, logger } = this.options;
    const entry: MetadataEntry = { ...HOLD_ENTRY, value: isHeld ? { since: now, expired, total } : null };
    await store.write({ changes: [], onRefusal: 'abort', fence: term, metadata: [entry] });
    const wasHolding = this.isHolding === true;
    this.isHolding = isHeld;
    if (isHeld)
      logger.warn('many agents are gone at once: their Dataplanes are kept until `causeway leases release`', {
        expired,
        total,
      });
    else if (wasHolding) logger.info('expired leases of agents are removed again', { total });
  }

  private async releasedUntil(): Promise<number | undefined> {
    const until = (await this.options.store.readMetadata(RELEASE_ENTRY.area, RELEASE_ENTRY.key))?.['until'];
    return typeof until === 'number' ? until : undefined;
  }

  /** A Dataplane that was written while its lease ended belongs to no agent: it gets a lease that ends unless its agent takes it. */
  private async adoptOrphans(): Promise<void> {
    const { leases, index, zone, length, clock, term } = this.options;
    const now = clock.elapsed();
    if (this.adoptedAt !== undefined && now - this.adoptedAt < ADOPTION_INTERVAL) return;
    this.adoptedAt = now;
    const keys: LeaseKey[] = [];
    await inTimedSlices(leasedDataplanes(index, zone, keys), { clock, signal: term.signal });
    for (const batch of splitIntoBatches(keys, MAX_BATCH_SIZE)) await leases.adopt(batch, length);
  }

  private async readHealth(): Promise<void> {
    const { leases, health, clock } = this.options;
    const elapsed = clock.elapsed();
    const isWhole = this.readWholeAt === undefined || elapsed - this.readWholeAt >= FULL_READ_INTERVAL;
    const { now, leases: changed } = await leases.changedSince(isWhole ? 0 : this.changesRead);
    if (isWhole) this.readWholeAt = elapsed;
    this.changesRead = now - COMMIT_DELAY;
    health.take(changed, isWhole);
  }

  private count({ total, expiredTotal: expired }: LeaseSurvey): void {
    this.counted = { ...this.counted, total, expired, isHeld: this.isHolding === true };
  }
}

function* leasedDataplanes(index: IndexReader, zone: string, into: LeaseKey[]): Generator<void> {
  for (const { id, labels } of index.ofKind('Dataplane')) {
    const { mesh, namespace, name } = id;
    if (id.zone === zone && labels[LEASED_BY] !== undefined) into.push({ mesh, namespace, name });
    yield;
  }
}

/** A held mass end: its start, and the number of leases. */
export interface ReaperHold {
  /** ms since 1970 by the store's clock. */
  readonly since: number;
  readonly expired: number;
  readonly total: number;
}

/** Returns the hold of the leader, at any replica; undefined if nothing is held. Throws Unavailable. */
export async function leaseHold(store: Pick<ResourceStore, 'readMetadata'>): Promise<ReaperHold | undefined> {
  const value: JsonObject | undefined = await store.readMetadata(HOLD_ENTRY.area, HOLD_ENTRY.key);
  if (!isJsonObject(value)) return undefined;
  const { since, expired, total } = value;
  const isWhole = typeof since === 'number' && typeof expired === 'number' && typeof total === 'number';
  return isWhole ? { since, expired, total } : undefined;
}

/** Lets the leader end all leases that have expired so far, even if they are many. Throws Unavailable. */
export async function releaseLeases(
  { leases, store }: { readonly leases: Pick<AgentLeaseStore, 'survey'>; readonly store: Pick<ResourceStore, 'write'> },
  by: string,
): Promise<{ readonly released: number }> {
  const { now, expiredTotal } = await leases.survey(0);
  await store.write({ changes: [], onRefusal: 'abort', metadata: [{ ...RELEASE_ENTRY, value: { until: now, by } }] });
  return { released: expiredTotal };
}
