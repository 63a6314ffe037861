import { identityKey, type Resource, type ResourceKey } from '@causeway/resources';
import type { IndexChange, IndexReader, PatchChange } from '@causeway/store';
import type { ProgressSource, UnsupportedChanges } from '../progress/apply-progress';
import {
  KeyedLoop,
  keysOfTable,
  NO_KEYS,
  RESCAN,
  type KeyedReconciler,
  type Keys,
  type KeySource,
  type ReconcileResult,
  type StaleKeyList,
} from '@causeway/loops';

/** The time after which a pending status is planned again, ms: it grows while the status stays pending. */
const POLL_INTERVAL = 1_000;
const MAX_POLL_INTERVAL = 30_000;
/**
 * The delay and the interval of reports of waiting proxies, ms: each report is a write. A replica whose proxies need nothing new reports that within
 * 5 s.
 */
const REPORT_DELAY = 10_000;
const REPORT_INTERVAL = 10_000;

/** The delay of the first report of waiting proxies, and the interval of further ones, ms. */
export interface ReportTimes {
  readonly first: number;
  readonly then: number;
}

/** The start of the wait for a resource in its current form. */
export interface StatusWait {
  /** The revision of the local log with which it came into force, at the latest. */
  readonly since: number;
  /** When that was observed, ms since 1970. */
  readonly from: number;
  /** Whether waiting proxies may be reported now. */
  readonly mayReport: boolean;
}

/** The moment for which a status is planned. */
export interface StatusMoment {
  readonly index: IndexReader;
  /** ms since 1970. */
  readonly now: number;
  /** Starts the wait unless it has started. */
  readonly wait: () => StatusWait;
}

/** The wanted status of one resource. */
export interface StatusPlan {
  readonly change: PatchChange | undefined;
  /** Whether it may change without an announcement: it is planned again later. */
  readonly isPending?: boolean;
  /** Whether it reports waiting proxies. */
  readonly isReport?: boolean;
  /** When to plan it again, ms since 1970. */
  readonly dueAt?: number | undefined;
}

/** Plans the status of the resources of some kinds: the only difference between status loops. */
export interface StatusPlanner {
  readonly name: string;
  readonly kinds: Iterable<string>;
  /** False while the inputs of `plan` are unknown: then nothing is written. */
  readonly isReady?: boolean;
  /** Reports whether this control plane writes the status of a resource. */
  writes(resource: Resource): boolean;
  /** Returns the keys whose status a change of the index makes stale. Does no I/O. */
  listKeys(change: IndexChange): StaleKeyList;
  /** Returns the keys of resources that a change of the index brings into force differently: their wait starts over. */
  affectedBy?(change: IndexChange): Iterable<ResourceKey>;
  /** Plans one status; without a change if it is up to date. */
  plan(resource: Resource, moment: StatusMoment): StatusPlan;
  /** Drops derived state of a resource that came into force differently. */
  forget?(key: ResourceKey): void;
  /** Called when a resource is gone, or not written here. */
  remove?(key: ResourceKey): void;
  /** Drops all derived state. */
  clear?(): void;
}

export interface StatusLoopOptions {
  readonly planner: StatusPlanner;
  /** Announce the resources that come into force differently; they must follow the index before the loop does. */
  readonly sources?: readonly KeySource[];
  /** Polled once a second: returns the keys of which an input outside the index has changed. */
  readonly takeOutside?: () => StaleKeyList;
  /** Pending statuses are planned again when its version changes. */
  readonly progress?: Pick<ProgressSource, 'version' | 'kumaZones'> | undefined;
  /** Resources whose set of proxies without support changed are planned again. */
  readonly unsupported?: Pick<UnsupportedChanges, 'takeChanged'> | undefined;
  /** Announces the results of the translation for zones of Kuma. */
  readonly kuma?: { takeChangedReasons(): Keys } | undefined;
  readonly reportTimes?: ReportTimes | undefined;
}

interface Wait {
  readonly since: number;
  readonly from: number;
  reportedAt: number;
}

/**
 * Keeps statuses equal to a planner's results: it follows the tables that they are derived from, polls inputs outside the index, and plans pending
 * statuses again. Writes go through the queue, batches and fence of `KeyedLoop` and the runner.
 */
export class StatusReconciler implements KeyedReconciler {
  readonly name: string;
  readonly looksOutside = true;
  readonly sources: readonly KeySource[];
  private readonly waits = new Map<ResourceKey, Wait>();
  private readonly pending = new Set<ResourceKey>();
  private index: IndexReader | undefined;
  private version: string | undefined;
  private kumaZones: string | undefined;

  constructor(private readonly options: StatusLoopOptions) {
    this.name = options.planner.name;
    this.sources = (options.sources ?? []).map((source) => keysOfTable(source, (keys) => this.waitAnew(keys)));
  }

  *seed(index: IndexReader): Iterable<Keys> {
    const { planner } = this.options;
    this.index = index;
    this.waits.clear();
    this.pending.clear();
    planner.clear?.();
    for (const kind of [...planner.kinds])
      for (const resource of index.ofKind(kind)) yield planner.writes(resource) ? [identityKey(resource.id)] : NO_KEYS;
  }

  listKeys(change: IndexChange): StaleKeyList {
    const { planner } = this.options;
    const affected = this.waitAnew([...(planner.affectedBy?.(change) ?? NO_KEYS)]);
    return [...affected, ...planner.listKeys(change)];
  }

  derivedKeys(): Keys {
    return this.options.kuma?.takeChangedReasons() ?? NO_KEYS;
  }

  outsideKeys(): StaleKeyList {
    const { takeOutside, unsupported } = this.options;
    const outside = takeOutside?.() ?? NO_KEYS;
    if (this.haveKumaZonesChanged()) return [RESCAN];
    if (!this.hasProgressed()) return outside;
    return [...outside, ...this.pending, ...(unsupported?.takeChanged() ?? NO_KEYS)];
  }

  reconcile(key: ResourceKey, index: IndexReader, now: number): ReconcileResult | undefined {
    const { planner } = this.options;
    const resource = index.byIdentityKey(key);
    if (!resource || !planner.writes(resource)) {
      this.forget(key);
      planner.remove?.(key);
      return undefined;
    }
    // It is planned once all inputs are known.
    if (planner.isReady === false) return undefined;
    const plan = planner.plan(resource, { index, now, wait: () => this.computeWait(key, now) });
    const wait = this.waits.get(key);
    if (wait && plan.isReport === true) wait.reportedAt = now;
    if (plan.isPending !== true) {
      this.pending.delete(key);
      return { change: plan.change, dueAt: plan.dueAt };
    }
    this.pending.add(key);
    const pause = Math.min(Math.max(POLL_INTERVAL, (now - (wait?.from ?? now)) / 4), MAX_POLL_INTERVAL);
    return { change: plan.change, dueAt: Math.min(now + pause, plan.dueAt ?? Infinity) };
  }

  /** Starts the wait over, because the resources came into force differently. */
  private waitAnew(keys: StaleKeyList): StaleKeyList {
    for (const key of keys) if (key !== RESCAN) this.forget(key);
    return keys;
  }

  private forget(key: ResourceKey): void {
    this.waits.delete(key);
    this.pending.delete(key);
    this.options.planner.forget?.(key);
  }

  /** The wait starts when the resource is first seen: it came into force at that revision at the latest. */
  private computeWait(key: ResourceKey, now: number): StatusWait {
    const since = this.index?.point?.revision ?? 0;
    const wait = this.waits.get(key) ?? { since, from: now, reportedAt: -Infinity };
    this.waits.set(key, wait);
    const { first, then } = this.options.reportTimes ?? { first: REPORT_DELAY, then: REPORT_INTERVAL };
    return { ...wait, mayReport: now - wait.from >= first && now - wait.reportedAt >= then };
  }

  private hasProgressed(): boolean {
    const version = this.options.progress?.version;
    if (version === this.version) return false;
    this.version = version;
    return true;
  }

  private haveKumaZonesChanged(): boolean {
    const zones = this.options.progress?.kumaZones?.()?.join(' ');
    if (zones === undefined || zones === this.kumaZones) return false;
    this.kumaZones = zones;
    return true;
  }
}

/** Creates the status loop of a planner for one term, which ends with `signal`. */
export function createStatusLoop(options: StatusLoopOptions, term: { readonly signal: AbortSignal }): KeyedLoop {
  return new KeyedLoop(new StatusReconciler(options), term);
}
