import { NotFound, type Registry } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import { BACKUP_VERSION, BackupWriter, type StoreExport } from '@causeway/store';
import { ConcurrencyLimit } from '../concurrency-limit';

/** One backup at a time: it holds a connection of the store, and keeps the database from vacuuming. */
const BACKUPS = { running: 1, queued: 4 } as const;

/**
 * Areas of metadata that contain secrets or depend on them: the sealed keys of the zone's certificate authority, and
 * token records, whose signing keys are secrets.
 */
const SECRET_AREAS = ['workload-authority', 'user-tokens', 'zone-tokens', 'dataplane-tokens'] as const;

/** Sources of backups. */
export interface BackupSources {
  readonly registry: Registry;
  readonly clock: Pick<Clock, 'now'>;
  readonly program: { readonly version: string };
  /** Absent if the store cannot be exported. */
  readonly backup?: StoreExport | undefined;
}

/** Receives a backup in chunks of whole lines; resolves when it can receive more. */
export type BackupSink = (text: string) => Promise<void>;

/** Backups of the store at one revision (docs/reference/backup-format.md). The interface checks whether the caller may have one. */
export class BackupQueries {
  private readonly limit = new ConcurrencyLimit(BACKUPS);

  constructor(private readonly sources: BackupSources) {}

  /**
   * Writes a backup; `secrets` adds resources of confidential kinds and the keys of the store. Rejects with Overloaded while too many callers wait,
   * with Unavailable when the database goes away, with the sink's errors, and when `signal` aborts.
   */
  async write(secrets: boolean, sink: BackupSink, signal: AbortSignal): Promise<void> {
    const { backup, registry, clock, program } = this.sources;
    if (!backup) throw new NotFound('This control plane cannot export its store.');
    const secretKinds = registry.kinds.filter(({ confidential }) => confidential).map(({ name }) => name);
    await this.limit.run(async (wanted) => {
      const writer = new BackupWriter();
      await backup.export(
        { secrets, secretKinds, secretAreas: SECRET_AREAS },
        {
          facts: (facts) => {
            const header = { version: BACKUP_VERSION, program: program.version, takenAt: clock.now() };
            return sink(writer.header({ ...header, ...facts }));
          },
          rows: ({ table, rows }) => {
            wanted.throwIfAborted();
            return sink(rows.map((row) => writer.record(table, row)).join(''));
          },
        },
      );
      await sink(writer.end());
    }, signal);
  }
}
