import type { LeaderLease } from '@causeway/runtime';
import type { ChangeBatch, ResourceStore, SessionStore, StoreMaintenance } from '@causeway/store';
import { MemoryLease, MemorySessions, MemoryStore, type MemoryDisk } from '@causeway/store/testing';

/** Storage of a control plane of a test; a `PostgresBackend` is one. */
export interface PlaneState {
  readonly store: ResourceStore & StoreMaintenance;
  readonly sessions: SessionStore;
  readonly lease: LeaderLease;
  close(): Promise<void>;
}

/** One process's part in a store in memory. */
export function memoryState(disk: MemoryDisk): PlaneState {
  const store = new MemoryStore(disk);
  return { store, sessions: new MemorySessions(disk), lease: new MemoryLease(disk), close: () => store.close() };
}

/** A gate in what a process hears of its store: while it is shut the index of that process lags. */
export class WatchGate {
  private opened: Promise<void> = Promise.resolve();
  private release: () => void = () => undefined;

  shut(): void {
    this.opened = new Promise((resolve) => (this.release = resolve));
  }

  open(): void {
    this.release();
    this.opened = Promise.resolve();
  }

  /** Batches as they come, each held until the gate is open. */
  async *through(batches: AsyncIterable<ChangeBatch>): AsyncIterable<ChangeBatch> {
    for await (const batch of batches) {
      await this.opened;
      yield batch;
    }
  }
}
