import type { CacheChange } from './resources/resource-cache';

/** Where a plane stands, for status and metrics. */
export interface PlaneState {
  /** `failed`: it does not carry traffic and is tried again. */
  readonly type: 'starting' | 'serving' | 'failed' | 'draining' | 'stopped';
  /** Why, where it does not serve. */
  readonly reason?: string;
  /** ms since 1970. */
  readonly since: number;
  /** Of the program that carries the traffic. */
  readonly version?: string;
}

/** Something that a plane is told and does not do. */
export interface Unobeyed {
  /** The listener. */
  readonly name: string;
  readonly what: string;
}

/** The processes that run now, by their ids, and how often one that ended was started again. */
export interface PlaneProcessesState {
  readonly pids: readonly number[];
  readonly restarts: number;
}

/** What a plane has put into the kernel. */
export interface PlaneRules {
  /** How many `address:port` of virtual IPs lead somewhere. */
  readonly addresses: number;
  /** How many endpoints the maps of the kernel hold, each as often as its share. */
  readonly slots: number;
  /** How many services it cannot do all for. */
  readonly lost: number;
  /** When the kernel took the last change, ms since 1970; undefined: never. */
  readonly loadedAt: number | undefined;
  /** Why the kernel does not hold what it should. */
  readonly failure: string | undefined;
  /** How often the kernel has refused a change. */
  readonly refusals: number;
  /** How often somebody had removed rules, which were put back; when that was last, ms since 1970. */
  readonly restored: number;
  readonly restoredAt: number | undefined;
}

/**
 * What carries the traffic of one Dataplane or ingress, by the resources of its cache. It is made with the cache, whose content of
 * then it serves from the start.
 */
export interface Plane {
  readonly type: 'envoy' | 'builtin' | 'direct' | 'grpc';
  readonly state: PlaneState;
  /** Of a plane that has processes of its own. */
  readonly processes?: PlaneProcessesState | undefined;
  /** What it is told and does not do, as of a moment ago; absent: all is done. */
  readonly unsupported?: readonly UnsupportedFeature[];
  /** Of a plane that works by rules of the kernel. */
  readonly rules?: PlaneRules | undefined;
  /** Resolves when it has begun; that it serves is told by `state`. Rejects where it can never run here. */
  start(): Promise<void>;
  /**
   * Takes what has changed in the cache. Resolves when traffic obeys it: undefined, or why it cannot be obeyed, with the names
   * (the zone is told of a rejection). Resolves at once while the plane carries no traffic. Never rejects.
   */
  take(change: CacheChange): Promise<string | undefined>;
  /** Takes no new connections; resolves when the open ones have ended, after `drainMs` at the latest. Idempotent. */
  stop(options: { readonly drainMs: number }): Promise<void>;
}
