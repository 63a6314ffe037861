import type { UnsupportedFeature } from '../plane';
import type { CacheChange } from '../resources/resource-cache';
import type { StatSnapshot } from './stats';

/** Bounds of a plane. */
export interface PlaneLimits {
  /** Maximum number of open client connections. */
  readonly maxConnections: number;
  /** Grace period for connections whose listener or filter chain was removed, ms. */
  readonly drain: number;
  /** Share of each limit that belongs to this process, of 1: several processes share the limits. */
  readonly share: number;
}

/** What carries the connections of a plane: this process, or several. */
export interface PlaneEngine {
  /** Serves the current resources. Resolves when all listeners listen, with the reason if some cannot be applied. */
  start(): Promise<string | undefined>;
  /**
   * Applies changed resources; resolves when they are in force, with the reason if some cannot be applied. Never
   * rejects.
   */
  take(change: CacheChange): Promise<string | undefined>;
  /** Takes no new connections; resolves when the open ones have ended, after so many ms at the latest. */
  stop(drainMs: number): Promise<void>;
  unsupported(): Promise<readonly UnsupportedFeature[]>;
  stats(): Promise<StatSnapshot>;
}
