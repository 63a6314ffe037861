import type { Clock, Logger, Tracer } from '@causeway/runtime';
import type { Registry } from '@causeway/resources';
import type { IndexReader, ResourceStore, StoreMaintenance } from '@causeway/store';

/** Dependencies and settings of sync that a global and a zone have alike. */
export interface SyncOptions {
  readonly store: ResourceStore;
  /** Fed by `followStore`. */
  readonly index: IndexReader;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracer?: Tracer | undefined;
  /** Version of the program. */
  readonly version: string;
  /** Extensions offered to Causeway peers; all by default. */
  readonly features?: readonly string[];
  /** Starts a new incarnation of the store if a peer proves that the store was restored from a backup (docs/design.md §2.7). */
  readonly maintenance?: Pick<StoreMaintenance, 'newIncarnation'>;
  /** Time for which deletions are held back after a peer begins a new incarnation, ms (`CAUSEWAY_ABSENCE_HOLD`). */
  readonly hold?: number;
  /**
   * Called for each written change of another control plane with the time since its origin committed it, ms, by the
   * clocks of the origin's database and of this process; never below 0. Not called for first states.
   */
  readonly onPropagated?: (kind: string, age: number) => void;
}

/** Default of `hold`: 5 minutes (docs/design.md §5). */
export const DEFAULT_ABSENCE_HOLD = 300_000;
