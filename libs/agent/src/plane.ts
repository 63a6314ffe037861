import type { CacheChange } from './resources/resource-reader';

/** State of a dataplane, for status and metrics. */
export interface PlaneState {
  /** `failed`: it does not carry traffic and is retried. */
  readonly type: 'starting' | 'serving' | 'failed' | 'draining' | 'stopped';
  /** Why it does not serve. */
  readonly reason?: string;
  /** ms since 1970. */
  readonly since: number;
  /** Version of the program that carries the traffic. */
  readonly version?: string;
}

/** A configured feature that a dataplane does not implement. */
export interface UnsupportedFeature {
  /** Name of the listener. */
  readonly name: string;
  readonly what: string;
}

/** Ids of the running processes, and number of restarts. */
export interface PlaneProcessesState {
  readonly pids: readonly number[];
  readonly restarts: number;
}

/** Kernel rules of a dataplane. */
export interface PlaneRules {
  /** Number of `address:port` of virtual IPs with endpoints. */
  readonly addresses: number;
  /** Number of slots in the kernel's maps, in proportion to weights. */
  readonly slots: number;
  /** Number of services with unsupported features. */
  readonly lost: number;
  /** Time at which the kernel accepted the last change, ms since 1970; undefined: never. */
  readonly loadedAt: number | undefined;
  /** Why the kernel does not hold the wanted state. */
  readonly failure: string | undefined;
  /** Number of changes that the kernel refused. */
  readonly refusals: number;
  /** Number of times that removed rules were restored; `restoredAt`: the last time, ms since 1970. */
  readonly restored: number;
  readonly restoredAt: number | undefined;
}

/**
 * Carries the traffic of one Dataplane or ingress, by the resources of its cache. It is created with the cache, whose
 * content it serves from the start.
 */
export interface Plane {
  readonly type: 'envoy' | 'builtin' | 'direct' | 'grpc';
  readonly state: PlaneState;
  /** Set for a dataplane with separate processes. */
  readonly processes?: PlaneProcessesState | undefined;
  /** Configured features that it does not implement, with a short delay; absent: none. */
  readonly unsupported?: readonly UnsupportedFeature[];
  /** Set for a dataplane that works by kernel rules. */
  readonly rules?: PlaneRules | undefined;
  /** Resolves when started; `state` shows when it serves. Rejects if it can never run here. */
  start(): Promise<void>;
  /**
   * Applies changed resources. Resolves when they are in force: with undefined, or with why they cannot be applied and
   * their names (the zone gets a NACK). Resolves at once while the dataplane carries no traffic. Never rejects.
   */
  take(change: CacheChange): Promise<string | undefined>;
  /** Refuses new connections; resolves when the open ones have ended, after `drainMs` at the latest. Idempotent. */
  stop(options: { readonly drainMs: number }): Promise<void>;
}
