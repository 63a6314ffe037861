import type { StorePoint } from '@causeway/resources';

/** What keeps a store small and honest; called by an upkeep loop or an operator, never by the mesh's own work. */
export interface StoreMaintenance {
  /**
   * Forgets tombstones that died more than `age` ms ago by the store's clock, and how many those were. Readers that
   * have not seen them are told to re-list (design.md §2.3).
   */
  purgeTombstones(age: number): Promise<number>;
  /** Begins a new life: every index and peer that remembers the old one reloads (design.md §2.7).
   * Revisions go on, with a gap. */
  newIncarnation(): Promise<StorePoint>;
}
