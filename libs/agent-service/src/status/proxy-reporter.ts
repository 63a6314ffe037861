import type { StorePoint } from '@causeway/resources';
import { type Clock, errorText, type Logger, sleepUntilTick, splitIntoBatches } from '@causeway/runtime';
import type { ProxyFacts, ProxySession, ProxySessionStore } from '@causeway/store';
import { observeProxy, type ObservationFrame, type ObservedStream, type ProxyObservation } from './proxy-facts';

/** Proxies of a replica, as a reporter observes them. */
export interface ObservedProxies {
  /** Returns every admitted proxy of this replica. */
  ids(): Iterable<string>;
  /** Returns the streams of a proxy; empty if it is unknown. */
  listStreams(proxy: string): readonly ObservedStream[];
  /** Calls `listener` with a Dataplane's proxy whose `listStreams` may have changed, except revisions. */
  onMoved(listener: (proxy: string) => void): () => void;
  /** Grows when observations of proxies may change although none of their streams had an event. */
  readonly generation: number;
  /** Calls `listener` with the last state of each stream that ends. */
  onLeaving(listener: (stream: ObservedStream) => void): () => void;
  /** Revision of the streams' source, and of the log; undefined before the index was loaded. */
  readonly position: { readonly revision: number; readonly point: StorePoint } | undefined;
  findAuthorities(version: string): readonly string[] | undefined;
}

export interface ProxyReporterOptions {
  readonly observed: ObservedProxies;
  readonly store: Pick<ProxySessionStore, 'report'>;
  /** Id of this replica, new after each start. */
  readonly instance: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval at which changes are collected and written, ms. */
export const REPORT_INTERVAL = 1_000;
/** Interval at which a replica reports that it is alive if its proxies do not change, ms. */
export const HEARTBEAT_INTERVAL = 5_000;
/** Interval at which counters are reported without other changes, ms. */
const COUNTERS_INTERVAL = 30_000;
/** Maximum number of sessions in one statement. */
const MAX_SESSIONS = 1_000;
/** Time for which the applied revision of a proxy that left is kept, ms: longer than certificates live. */
const RETENTION = 48 * 3_600_000;

/** Last report of a proxy. */
interface ReportedProxy {
  /** Facts without counters, as text. */
  text: string;
  counts: string;
  countsAt: number;
  session: ProxySession | undefined;
  /** Applied all changes up to this revision; known after a stream was observed twice. */
  applied: number | undefined;
  /** Applied all changes up to the latest observation, although that skipped it. */
  isAtRest: boolean;
  /** Lowest revision of resources sent to it since. */
  sentSince: number;
  newest: number;
  /** Number of observations of its newest stream. */
  observations: number;
}

/**
 * Reports the state of this replica's proxies to the store: at most once a second, in one statement for 1,000 proxies,
 * only those that have changed; and every 5 s that the replica is alive. A failed report is sent with the next one. A
 * proxy at rest is observed again only after an event of its streams.
 */
export class ProxyReporter {
  private readonly known = new Map<string, ReportedProxy>();
  /** Times at which known proxies left, by `Clock.elapsed`, oldest first. */
  private readonly gone = new Map<string, number>();
  /** Proxies to observe. */
  private readonly moved = new Set<string>();
  /** Incarnation, shift and generation of the last observation of proxies at rest. */
  private observedBy = '';
  private readonly left: ObservedStream[] = [];
  /** Unreported sessions, the newest of each proxy. */
  private readonly pending = new Map<string, ProxySession>();
  private readonly stops: readonly (() => void)[];
  /** Revision of the log at the former observation: resources sent since are not older. */
  private observedAt: number;
  private version = 0;
  private reported: StorePoint | undefined;
  private reportedAt = -Infinity;
  private isFailing = false;

  constructor(private readonly options: ProxyReporterOptions) {
    const { observed } = options;
    this.observedAt = observed.position?.point.revision ?? 0;
    this.stops = [
      observed.onLeaving((stream) => void this.left.push(stream)),
      observed.onMoved((proxy) => void this.moved.add(proxy)),
    ];
  }

  /** Reports until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    while (!signal.aborted) {
      await this.report();
      await sleepUntilTick(clock, REPORT_INTERVAL, signal);
    }
  }

  /** Reports that this replica serves no proxy any more; call it when the server is closed and `run` has returned. */
  async end(): Promise<void> {
    await this.report(true);
    this.stops.forEach((stop) => stop());
  }

  /** Reports once; never rejects. */
  async report(isEnd = false): Promise<void> {
    const { observed, clock, logger } = this.options;
    const { position } = observed;
    if (!position) return;
    this.observe(position);
    const now = clock.elapsed();
    if (this.pending.size === 0 && !isEnd && now - this.reportedAt < HEARTBEAT_INTERVAL) return;
    try {
      await this.write(position.point, isEnd);
      this.reportedAt = now;
      if (this.isFailing) logger.info('proxies are reported again');
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) logger.warn('proxies could not be reported', { error: errorText(error) });
      this.isFailing = true;
    }
  }

  /** Collects differences from the former report, all of one moment: skipped proxies have applied `point`. */
  private observe({ revision, point }: NonNullable<ObservedProxies['position']>): void {
    const { observed, clock } = this.options;
    const frame: ObservationFrame = {
      revision,
      shift: revision - point.revision,
      findAuthorities: (version) => observed.findAuthorities(version),
    };
    for (const proxy of this.takeDue(frame, point)) {
      const [first, ...others] = observed.listStreams(proxy);
      const isAtRest = !first || this.updateRestState(proxy, observeProxy([first, ...others], frame), point);
      if (!isAtRest) this.moved.add(proxy);
    }
    for (const [proxy, own] of byProxy(this.left.splice(0)))
      if (observed.listStreams(proxy).length === 0) this.leave(proxy, observeProxy(own, frame));
    this.observedAt = point.revision;
    const longAgo = clock.elapsed() - RETENTION;
    for (const [proxy, goneAt] of this.gone) {
      if (goneAt >= longAgo) break;
      this.gone.delete(proxy);
      this.known.delete(proxy);
    }
  }

  /** Returns the proxies that had events or are not at rest; all proxies if revisions must be read again. */
  private takeDue({ shift }: ObservationFrame, { incarnation }: StorePoint): readonly string[] {
    const { observed } = this.options;
    const observedBy = JSON.stringify([incarnation, shift, observed.generation]);
    const due = observedBy === this.observedBy ? [...this.moved] : [...observed.ids()];
    this.observedBy = observedBy;
    this.moved.clear();
    return due;
  }

  /**
   * After two observations, a stream has reported all that its proxy brought along; before, the proxy has applied its
   * former state, or what it was sent since. Returns whether its state changes only with an event.
   */
  private updateRestState(
    proxy: string,
    { facts, applied, newest, isAtRest }: ProxyObservation,
    point: StorePoint,
  ): boolean {
    const known = this.getOrCreateKnown(proxy);
    this.gone.delete(proxy);
    known.observations = known.newest === newest ? known.observations + 1 : 1;
    known.newest = newest;
    if (known.observations === 1) known.sentSince = Math.min(known.sentSince, this.observedAt);
    else if (applied >= 0) Object.assign(known, { applied, sentSince: Infinity });
    const least = Math.min(known.applied ?? Infinity, known.sentSince);
    const isSettled = known.applied !== undefined;
    const isCurrent = isSettled && least >= point.revision;
    this.compare(proxy, true, { ...facts, isSettled, ...(isCurrent ? {} : { applied: least }) });
    // Without traffic resources a proxy acks nothing and would seem to fall behind.
    const keepsUp = known.observations > 1 && applied === point.revision;
    if (!isAtRest || !keepsUp || known.counts !== formatCounts(facts)) return false;
    return (known.isAtRest = true);
  }

  private leave(proxy: string, { facts, applied, newest }: ProxyObservation): void {
    const known = this.getOrCreateKnown(proxy);
    if (known.newest !== newest) known.sentSince = Math.min(known.sentSince, this.observedAt);
    if (known.newest === newest && known.observations > 1 && applied >= 0)
      Object.assign(known, { applied, sentSince: Infinity });
    const least = Math.min(known.applied ?? Infinity, known.sentSince, applied >= 0 ? applied : Infinity);
    const isSettled = known.applied !== undefined;
    Object.assign(known, isSettled ? { applied: least, sentSince: Infinity } : { sentSince: least });
    Object.assign(known, { observations: 0, newest: -1 });
    this.gone.delete(proxy);
    this.gone.set(proxy, this.options.clock.elapsed());
    this.compare(proxy, false, { ...facts, isSettled, applied: least });
  }

  private compare(proxy: string, connected: boolean, facts: ProxyFacts): void {
    const known = this.getOrCreateKnown(proxy);
    const now = this.options.clock.elapsed();
    const counts = formatCounts(facts);
    const types = facts.types.map(({ responses: _, ...rest }) => rest);
    const text = JSON.stringify([connected, { ...facts, types }]);
    if (known.text === text && (known.counts === counts || now - known.countsAt < COUNTERS_INTERVAL)) return;
    const session = { proxy, connected, facts };
    Object.assign(known, { text, counts, countsAt: now, session });
    this.pending.set(proxy, session);
  }

  private async write(point: StorePoint, isEnd: boolean): Promise<void> {
    const { store, instance } = this.options;
    const batches = [...splitIntoBatches([...this.pending.values()], MAX_SESSIONS)];
    // Before its last batch, a report contains nothing new about skipped proxies.
    const before = this.reported?.incarnation === point.incarnation ? this.reported : { ...point, revision: -1 };
    for (const [i, sessions] of (batches.length > 0 ? batches : [[]]).entries()) {
      const isLast = i >= batches.length - 1;
      const { incarnation, revision } = isLast ? point : before;
      const version = ++this.version;
      const report = { instance, version, incarnation, revision, isEnd: isEnd && isLast, sessions };
      const isKnown = await store.report(report);
      for (const { proxy } of sessions) this.pending.delete(proxy);
      if (!isKnown && version > 1) for (const { session } of this.known.values()) this.reportAgain(session);
    }
    this.reported = point;
  }

  private reportAgain(session: ProxySession | undefined): void {
    if (session) this.pending.set(session.proxy, session);
  }

  private getOrCreateKnown(proxy: string): ReportedProxy {
    const known: ReportedProxy = this.known.get(proxy) ?? {
      text: '',
      counts: '',
      countsAt: -Infinity,
      session: undefined,
      applied: undefined,
      isAtRest: false,
      sentSince: Infinity,
      newest: -1,
      observations: 0,
    };
    if (known.isAtRest) Object.assign(known, { applied: this.observedAt, isAtRest: false });
    this.known.set(proxy, known);
    return known;
  }
}

function formatCounts({ types }: Pick<ProxyFacts, 'types'>): string {
  return JSON.stringify(types.map(({ responses }) => responses));
}

type Streams = [ObservedStream, ...ObservedStream[]];

function byProxy(streams: Iterable<ObservedStream>): ReadonlyMap<string, Streams> {
  const found = new Map<string, Streams>();
  for (const stream of streams) {
    const known = found.get(stream.id);
    if (known) known.push(stream);
    else found.set(stream.id, [stream]);
  }
  return found;
}
