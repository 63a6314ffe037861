import type { Unobeyed } from '../plane';
import type { CacheChange } from '../resources/resource-cache';
import type { StatSnapshot } from './stats';

/** Bounds of a plane. */
export interface PlaneLimits {
  /** Most open connections of clients. */
  readonly maxConnections: number;
  /** How long connections may go on whose listener or filter chain is no longer there, ms. */
  readonly drain: number;
  /** How much of each limit this is responsible for, of 1: several processes share them. */
  readonly share: number;
}

/** What carries the connections of a plane: this process, or several. */
export interface PlaneEngine {
  /** Serves what is there. Resolves when all listeners listen, with what cannot be obeyed. */
  start(): Promise<string | undefined>;
  /** Obeys what has changed; resolves when it does, with what cannot be obeyed. Never rejects. */
  take(change: CacheChange): Promise<string | undefined>;
  /** Takes no new connections; resolves when the open ones have ended, after so many ms at the latest. */
  stop(drainMs: number): Promise<void>;
  unsupported(): Promise<readonly UnsupportedFeature[]>;
  stats(): Promise<StatSnapshot>;
}
