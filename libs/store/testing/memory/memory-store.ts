import {
  compareText,
  identityKey,
  Unavailable,
  type Identity,
  type JsonObject,
  type Resource,
  type StorePoint,
} from '@causeway/resources';
import type {
  ChangeBatch,
  MetadataEntry,
  ResourceStore,
  Snapshot,
  StoreMaintenance,
  WriteRequest,
  WriteResult,
} from '../../src/resource-store';
import { MemoryDisk, metadataKey, promised } from './memory-disk';
import { toResource, toTombstone } from './memory-row';
import { writeChanges } from './write-changes';

/**
 * A ResourceStore in memory, for unit tests and simulations: everything but durability. One handle is one process's
 * connection; a second handle on the same disk is another replica, or the process after a restart.
 */
export class MemoryStore implements ResourceStore, StoreMaintenance {
  private closed = false;
  private away = false;

  constructor(readonly disk: MemoryDisk = new MemoryDisk()) {}

  /** Disconnects this handle from its disk, or reconnects it: while disconnected calls throw Unavailable and watches stall. */
  setAway(away: boolean): void {
    this.away = away;
    this.disk.wake();
  }

  head(): Promise<StorePoint> {
    return this.there(() => ({ incarnation: this.disk.incarnation, revision: this.disk.revision }));
  }

  compactionRevision(): Promise<number> {
    return this.there(() => this.disk.floor);
  }

  pointKey(): Promise<string> {
    return this.there(() => this.disk.pointKey);
  }

  get(id: Identity): Promise<Resource | undefined> {
    return this.there(() => {
      const row = this.disk.rows.get(identityKey(id));
      return row && row.deletedAt === undefined ? toResource(row, this.disk.incarnation) : undefined;
    });
  }

  snapshot(): Promise<Snapshot> {
    return this.there(() => {
      const { incarnation, revision } = this.disk;
      const rows = [...this.disk.rows.values()];
      return {
        point: { incarnation, revision },
        resources: rows.filter((row) => row.deletedAt === undefined).map((row) => toResource(row, incarnation)),
        tombstones: rows.filter((row) => row.deletedAt !== undefined).map(toTombstone),
      };
    });
  }

  write(request: WriteRequest): Promise<WriteResult> {
    return this.there(() => writeChanges(this.disk, request));
  }

  async *watch(since: StorePoint, signal: AbortSignal): AsyncIterable<ChangeBatch> {
    const wake = (): void => this.disk.wake();
    signal.addEventListener('abort', wake, { once: true });
    try {
      let revision = since.revision;
      while (!signal.aborted && !this.closed) {
        if (!this.away) this.disk.assertReadable(since.incarnation, revision);
        const batch = this.away ? undefined : this.disk.changesSince(revision);
        if (batch) {
          revision = batch.revision;
          yield batch;
        } else {
          await this.disk.changed();
        }
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  readMetadata(area: string, key: string): Promise<JsonObject | undefined> {
    return this.there(() => this.disk.metadata.get(metadataKey(area, key))?.value ?? undefined);
  }

  listMetadata(area: string): Promise<readonly MetadataEntry[]> {
    return this.there(() =>
      [...this.disk.metadata.values()].filter((entry) => entry.area === area).sort((a, b) => compareText(a.key, b.key)),
    );
  }

  purgeTombstones(age: number): Promise<number> {
    return this.there(() => this.disk.purge(this.disk.clock.now() - age));
  }

  newIncarnation(): Promise<StorePoint> {
    return this.there(() => {
      this.disk.beginIncarnation();
      return { incarnation: this.disk.incarnation, revision: this.disk.revision };
    });
  }

  close(): Promise<void> {
    return promised(() => {
      this.closed = true;
      this.disk.wake();
    });
  }

  private there<T>(work: () => T): Promise<T> {
    return promised(() => {
      if (this.closed || this.away) throw new Unavailable(this.closed ? 'the store is closed' : 'the store is away');
      return work();
    });
  }
}
