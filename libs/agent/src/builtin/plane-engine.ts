import type { UnsupportedFeature } from '../plane';
import type { CacheChange } from '../resources/resource-reader';
import type { StatSnapshot } from './stats';

/** Limits of a dataplane. */
export interface PlaneLimits {
  /** Maximum number of open client connections. */
  readonly maxConnections: number;
  /** Grace period for connections whose listener or filter chain was removed, ms. */
  readonly drain: number;
  /** Share of each limit that applies to this process, in (0, 1]. */
  readonly share: number;
}

/** Carries the connections of a dataplane, in this process or in several. */
export interface PlaneEngine {
  /** Serves the current resources. Resolves when all listeners listen, with the reason if some cannot be applied. */
  start(): Promise<string | undefined>;
  /**
   * Applies changed resources. Resolves when they are in force, with the reason if some cannot be applied. Never
   * rejects.
   */
  take(change: CacheChange): Promise<string | undefined>;
  /** Stops accepting connections; resolves when the open ones have ended, after `drainMs` at the latest. */
  stop(drainMs: number): Promise<void>;
  unsupported(): Promise<readonly UnsupportedFeature[]>;
  stats(): Promise<StatSnapshot>;
}
