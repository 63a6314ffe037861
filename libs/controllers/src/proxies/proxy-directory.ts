import { identityKey, type ResourceKey } from '@causeway/resources';
import { type Clock, errorText, type Logger, sleepUntilTick } from '@causeway/runtime';
import type { ProxySessionStore, ReplicaSessions, StoredProxySession } from '@causeway/store';
import {
  ackWatermark,
  isLiveReplica,
  isSessionOver,
  knownProxy,
  mayBeInUse,
  waitedFor,
  type KnownProxy,
  type ProxyReplica,
  type SessionAtReplica,
  type WaitedFor,
} from './known-proxies';

export interface ProxyDirectoryOptions {
  readonly store: ProxySessionStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval of the reads of sessions, ms. */
const READ_INTERVAL = 1_000;
/** One read out of this number reads all sessions: only that shows deleted ones. */
const READS_PER_WHOLE = 600;
/** Maximum number of sessions that one statement deletes. */
const MAX_FORGOTTEN = 1_000;

interface Replica {
  state: ProxyReplica;
  readonly sessions: Map<string, StoredProxySession>;
}

/** Called with the identity keys of the Dataplanes and ingresses whose proxies have changed. */
export type ProxyListener = (owners: ReadonlySet<ResourceKey>) => void;

/** Maximum number of changes that are remembered; a reader that lags further behind reads everything. */
const MAX_CHANGES = 10_000;

/** The owners of changed proxies: identity keys of Dataplanes and ingresses; `all` if there are too many. */
export interface ProxyChanges {
  /** The argument of the next call. */
  readonly next: number;
  readonly owners: readonly ResourceKey[] | 'all';
}

/**
 * The proxies of a zone, merged from all its replicas, at every replica: read once a second, only changes. A proxy whose replica has not reported for
 * 15 s is gone.
 */
export class ProxyDirectory {
  private readonly replicas = new Map<string, Replica>();
  private readonly merged = new Map<string, KnownProxy>();
  private readonly byOwner = new Map<string, string>();
  /** The owners of changed proxies; the first entry has the number `forgotten`. */
  private changes: ResourceKey[] = [];
  private forgotten = 0;
  private readonly listeners = new Set<ProxyListener>();
  private reads = 0;
  private now = 0;
  private isFailing = false;
  private cachedWatermark: { readonly incarnation: string; readonly ackWatermark: number } | undefined;

  constructor(private readonly options: ProxyDirectoryOptions) {}

  /** Reads until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.options;
    while (!signal.aborted) {
      try {
        await this.refresh();
        this.isFailing = false;
      } catch (error) {
        if (!this.isFailing) logger.warn('sessions of proxies could not be read', { error: errorText(error) });
        this.isFailing = true;
      }
      await sleepUntilTick(clock, READ_INTERVAL, signal);
    }
  }

  /** Reads the changes. Throws Unavailable. */
  async refresh(): Promise<void> {
    const isWhole = this.reads % READS_PER_WHOLE === 0;
    const known = isWhole ? [] : [...this.replicas].map(([instance, { state }]) => [instance, state.version] as const);
    const read = await this.options.store.read(new Map(known));
    this.reads += 1;
    this.cachedWatermark = undefined;
    const changed = new Set<string>();
    const found = new Set(read.map(({ instance }) => instance));
    for (const [instance, { sessions }] of this.replicas)
      if (!found.has(instance)) {
        for (const proxy of sessions.keys()) changed.add(proxy);
        this.replicas.delete(instance);
      }
    for (const replica of read) this.take(replica, isWhole, changed);
    this.announce(changed);
  }

  /** False before the first read: then the absence of a proxy means nothing. */
  get isLoaded(): boolean {
    return this.reads > 0;
  }

  /** Returns the live replicas, as of the last read. */
  liveReplicas(): readonly string[] {
    return [...this.replicas].flatMap(([instance, { state }]) => (state.isLive ? [instance] : []));
  }

  /** The store's clock at the last read, ms since 1970. */
  get storeNow(): number {
    return this.now;
  }

  /** Yields every proxy that is or recently was connected, unsorted. */
  *all(): Iterable<KnownProxy> {
    for (const known of this.merged.values()) yield this.asOfNow(known);
  }

  /** Returns the proxy of a Dataplane or ingress by its identity key. */
  ofOwner(key: string): KnownProxy | undefined {
    const proxy = this.byOwner.get(key);
    const known = proxy === undefined ? undefined : this.merged.get(proxy);
    return known && this.asOfNow(known);
  }

  /** Calls `listener` after each read with changes, until the returned function is called. */
  subscribe(listener: ProxyListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Returns `ackWatermark`; -1 before the first read. Computed once for each read. */
  ackWatermark(incarnation: string): number {
    if (!this.isLoaded) return -1;
    if (this.cachedWatermark?.incarnation !== incarnation)
      this.cachedWatermark = {
        incarnation,
        ackWatermark: ackWatermark(this.everything(), { now: this.now, incarnation }),
      };
    return this.cachedWatermark.ackWatermark;
  }

  /**
   * Returns the revision up to which every live replica has reported all its proxies: a proxy that connected before such a change is known.
   * -1 if a replica has not reported or none is live; Infinity if there never was one.
   */
  heardUpTo(incarnation: string): number {
    if (!this.isLoaded) return -1;
    const states = [...this.replicas.values()].map(({ state }) => state);
    const live = states.filter(({ isLive }) => isLive);
    if (live.length === 0) return states.length === 0 ? Infinity : -1;
    return Math.min(...live.map((each) => (each.incarnation === incarnation ? each.revision : -1)));
  }

  /** Returns the proxies that keep `ackWatermark` below a revision; linear in all proxies. */
  waitedFor(incarnation: string, revision: number): WaitedFor {
    return waitedFor(this.everything(), { now: this.now, incarnation }, revision);
  }

  /** Returns the changes since an earlier answer; everything at the first call. */
  changesSince(before: number | undefined): ProxyChanges {
    const next = this.forgotten + this.changes.length;
    if (before === undefined || before < this.forgotten) return { next, owners: 'all' };
    return { next, owners: this.changes.slice(before - this.forgotten) };
  }

  /** Deletes sessions and replicas that are over; a periodic task of the leader. Throws Unavailable. */
  async sweep(): Promise<void> {
    const { store } = this.options;
    const over = [...this.merged.keys()].flatMap((proxy) => this.overSessions(proxy));
    for (let from = 0; from < over.length; from += MAX_FORGOTTEN)
      await store.forget(over.slice(from, from + MAX_FORGOTTEN));
    const changed = new Set<string>();
    for (const { instance, proxy, version } of over) {
      const sessions = this.replicas.get(instance)?.sessions;
      if (sessions?.get(proxy)?.version === version) sessions.delete(proxy);
      changed.add(proxy);
    }
    this.announce(changed);
    const gone = [...this.replicas.values()].filter(
      ({ state, sessions }) => !mayBeInUse(state, this.now) && sessions.size === 0,
    );
    if (gone.length > 0)
      await store.forgetReplicas(gone.map(({ state: { instance, version } }) => ({ instance, version })));
  }

  private everything(): Parameters<typeof ackWatermark>[0] {
    const replicas = [...this.replicas.values()].map(({ state }) => state);
    return { replicas, proxies: [...this.merged.keys()].map((proxy) => this.listSessions(proxy)) };
  }

  private take({ sessions: written, now, ...replica }: ReplicaSessions, isWhole: boolean, changed: Set<string>): void {
    this.now = now;
    const before = this.replicas.get(replica.instance);
    const state = { ...replica, isLive: isLiveReplica({ ...replica, now }) };
    const sessions = before?.sessions ?? new Map<string, StoredProxySession>();
    if (isWhole || state.isLive !== before?.state.isLive) for (const proxy of sessions.keys()) changed.add(proxy);
    if (isWhole) sessions.clear();
    for (const session of written) {
      sessions.set(session.proxy, session);
      changed.add(session.proxy);
    }
    this.replicas.set(replica.instance, { state, sessions });
  }

  private announce(changed: Iterable<string>): void {
    const owners = new Set<ResourceKey>();
    for (const proxy of changed) {
      const [first, ...others] = this.listSessions(proxy);
      const before = this.merged.get(proxy);
      const after = first && knownProxy([first, ...others]);
      if (after) this.merged.set(proxy, after);
      else this.merged.delete(proxy);
      if (before?.connected === after?.connected && before?.facts === after?.facts && before?.leftAt === after?.leftAt)
        continue;
      for (const known of [before, after]) {
        const owner = known?.facts.owner;
        if (!owner) continue;
        const key = identityKey(owner);
        owners.add(key);
        if (after) this.byOwner.set(key, proxy);
        else this.byOwner.delete(key);
      }
    }
    if (owners.size === 0) return;
    for (const listener of this.listeners) listener(owners);
    this.changes.push(...owners);
    const tooMany = this.changes.length - MAX_CHANGES;
    if (tooMany <= 0) return;
    this.changes = this.changes.slice(tooMany);
    this.forgotten += tooMany;
  }

  /** A connected proxy was last seen at its replica's last report. */
  private asOfNow(known: KnownProxy): KnownProxy {
    const replica = known.connected ? this.replicas.get(known.instance)?.state : undefined;
    return replica ? { ...known, revision: replica.revision, lastSeen: replica.seenAt } : known;
  }

  private listSessions(proxy: string): readonly SessionAtReplica[] {
    return [...this.replicas.values()].flatMap(({ state: replica, sessions }) => {
      const session = sessions.get(proxy);
      return session ? [{ replica, session }] : [];
    });
  }

  private overSessions(
    proxy: string,
  ): readonly { readonly instance: string; readonly proxy: string; readonly version: number }[] {
    const sessions = this.listSessions(proxy);
    return sessions
      .filter((at) => isSessionOver(at, sessions, this.now))
      .map(({ replica: { instance }, session: { version } }) => ({ instance, proxy, version }));
  }
}
