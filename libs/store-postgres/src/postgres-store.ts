import { Unavailable, type Identity, type JsonObject, type Resource, type StorePoint } from '@causeway/resources';
import { Backoff, errorText, yieldToEventLoop, type Clock, type Logger } from '@causeway/runtime';
import {
  outdatedResults,
  type ChangeBatch,
  type ChangeResult,
  type ResourceLookup,
  type MetadataEntry,
  type ResourceStore,
  type Snapshot,
  type StoreMaintenance,
  type WriteRequest,
  type WriteResult,
} from '@causeway/store';
import { DatabaseError } from 'pg';
import { GroupCommit } from './write/group-commit';
import { READ_HEAD, LogReader } from './log/log-reader';
import { type NoteRow, PointKeyRow } from './database/entities';
import type { ReadBatcher } from './database/read-batcher';
import { queryOn, type StoreDatabase } from './database/store-database';
import { RecentWrites, type WriteEcho } from './write/recent-writes';
import type { WakeUpSignal } from './log/wake-up-signal';
import { logAudited } from './audit/audited-writes';
import { wireResults, type WireResult } from './write/write-decode';
import { fencedError, splitWrite, decodeResults, bindValues, writeCall, type WriteCall } from './write/write-request';

export interface PostgresStoreOptions {
  readonly database: StoreDatabase;
  readonly joint: ReadBatcher;
  /** Notified when the log may have grown. */
  readonly wakeUp: WakeUpSignal;
  readonly clock: Clock;
  readonly logger: Logger;
  /** ms between reads of the log when nothing wakes a watch. */
  readonly pollEvery: number;
}

type LogPage = Awaited<ReturnType<LogReader['changesSince']>>;

/** Changes a statement where they need not be atomic: larger ones delay other writers (docs/design.md §2.4). */
const BATCH_SIZE = 500;
/** Tombstones a statement. */
const PURGE = 5_000;

const READ_NOTE = 'SELECT value FROM notes WHERE area = $1 AND key = $2';
const LIST_NOTES = 'SELECT area, key, value FROM notes WHERE area = $1 ORDER BY key';

interface WriteRow {
  readonly head_revision: number;
  readonly fenced: string | null;
  readonly results: readonly WireResult[] | null;
  readonly written: WriteEcho | null;
}

/**
 * The ResourceStore in Postgres. A write of more than 500 changes with `onRefusal: 'skip'` is written in batches, each atomic and fenced, the
 * metadata with the last: if it throws, earlier batches stay. Concurrent single changes share a statement (GroupCommit).
 */
export class PostgresStore implements ResourceStore, StoreMaintenance {
  private readonly closing = new AbortController();
  private readonly reader: LogReader;
  private readonly reads = new Map<string, Promise<LogPage>>();
  /** The last writes of this process, for watches whose position is directly before them. */
  private readonly recent = new RecentWrites();
  private readonly grouped: GroupCommit;

  constructor(private readonly options: PostgresStoreOptions) {
    this.reader = new LogReader(options.database);
    this.grouped = new GroupCommit((request) => this.writeNow(request), options.clock);
  }

  head(): Promise<StorePoint> {
    return this.reader.head();
  }

  compactionRevision(): Promise<number> {
    return this.reader.floor();
  }

  async pointKey(): Promise<string> {
    const row = await this.options.database.find(PointKeyRow, (rows) => rows.findOneBy({ one: true }));
    if (!row) throw new Error('the store has lost the key of its resume points: table point_key is empty');
    return row.key;
  }

  get(id: Identity): Promise<Resource | undefined> {
    return this.reader.get(id);
  }

  snapshot(): Promise<Snapshot> {
    return this.reader.snapshot();
  }

  write(request: WriteRequest): Promise<WriteResult> {
    return this.grouped.write(request);
  }

  async *watch(since: StorePoint, signal: AbortSignal, held?: ResourceLookup): AsyncIterable<ChangeBatch> {
    const { wakeUp, pollEvery, clock, logger } = this.options;
    const until = AbortSignal.any([signal, this.closing.signal]);
    const backoff = new Backoff({ base: 50, cap: 2_000 });
    let at = since;
    // A wake-up is dropped if the watch already yielded the revision that it announces: a read covers all earlier wake-ups, a write of this process
    // only its own.
    let answered = -1;
    while (!until.aborted) {
      const own = this.recent.after(at, held);
      if (own) {
        answered += 1;
        at = { incarnation: at.incarnation, revision: own.revision };
        yield own;
        continue;
      }
      const seen = wakeUp.count;
      let found: LogPage;
      try {
        found = seen > answered ? await this.readTogether(at, seen) : undefined;
        backoff.reset();
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        if (!until.aborted) logger.warn('reading the log failed, trying again', { error: errorText(error) });
        await clock.sleep(backoff.next(), until);
        continue;
      }
      answered = found?.full ? -1 : Math.max(answered, seen);
      if (found && !until.aborted) {
        at = { incarnation: at.incarnation, revision: found.batch.revision };
        yield found.batch;
      }
      if (found?.full) continue;
      await wakeUp.wait(seen, pollEvery, until);
      // Nothing woke the watch: it polls.
      if (wakeUp.count === seen && (await this.isBehind(at))) answered = -1;
    }
  }

  async readMetadata(area: string, key: string): Promise<JsonObject | undefined> {
    const statement = { name: 'read-note', text: READ_NOTE, values: [area, key] };
    const [row] = await this.options.joint.read<Pick<NoteRow, 'value'>>(statement);
    return row?.value;
  }

  listMetadata(area: string): Promise<readonly MetadataEntry[]> {
    return this.options.joint.read<NoteRow>({ name: 'list-notes', text: LIST_NOTES, values: [area] });
  }

  async purgeTombstones(age: number): Promise<number> {
    let purged = 0;
    for (;;) {
      const statement = { text: 'SELECT causeway_purge($1, $2) AS gone', values: [age, PURGE] };
      const [row] = await this.options.database.query<{ gone: number }>(statement);
      purged += row?.gone ?? 0;
      if ((row?.gone ?? 0) < PURGE) return purged;
    }
  }

  async newIncarnation(): Promise<StorePoint> {
    const text = 'SELECT incarnation, revision FROM causeway_new_incarnation(NULL)';
    const [point] = await this.options.database.query<{ incarnation: string; revision: number }>({ text });
    this.options.wakeUp.notify();
    return point ?? this.head();
  }

  /** Ends the watches; PostgresBackend ends the connections. */
  close(): Promise<void> {
    this.closing.abort();
    return Promise.resolve();
  }

  /** Whether the log has moved from a point, or cannot be asked: then the read of it says why. */
  private async isBehind({ incarnation, revision }: StorePoint): Promise<boolean> {
    try {
      const [head] = await this.options.joint.read<{ incarnation: string; revision: number }>(READ_HEAD);
      return head?.incarnation !== incarnation || head.revision !== revision;
    } catch {
      return true;
    }
  }

  /** Watches at one point that wake together share one read; a read that began before a wake-up does not answer it. */
  private async readTogether(at: StorePoint, seen: number): Promise<LogPage> {
    const key = `${at.incarnation}/${at.revision}/${seen}`;
    const running = this.reads.get(key);
    if (running) return running;
    const read = this.reader.changesSince(at);
    this.reads.set(key, read);
    try {
      return await read;
    } finally {
      this.reads.delete(key);
    }
  }

  private async writeNow(request: WriteRequest): Promise<WriteResult> {
    const results: ChangeResult[] = [];
    let revision: number | undefined;
    const [first, ...more] = splitWrite(request, BATCH_SIZE);
    let next: WriteBatch | undefined = first && prepared(first);
    while (next) {
      const writing = this.writeBatch(next, revision);
      next = await preparedMeanwhile(more.shift(), writing);
      const written = await writing;
      if (written.outdated) next = undefined;
      results.push(...written.results);
      request.onDurable?.(written.results);
      revision = written.revision;
    }
    const rest = request.changes.slice(results.length);
    if (rest.length > 0) {
      const outdated = outdatedResults({ ...request, changes: rest });
      results.push(...outdated);
      request.onDurable?.(outdated);
    }
    return { revision: revision ?? 0, results };
  }

  /** Wakes the watches after each batch, so that they read it while the next is written. */
  private async writeBatch(
    { request, call }: WriteBatch,
    before: number | undefined,
  ): Promise<WriteResult & { readonly outdated?: boolean }> {
    try {
      const row = await this.callWrite(call, before).catch((error: unknown) => {
        throw refusedLater(error, request, call);
      });
      if (row.fenced === 'outdated')
        return { revision: row.head_revision, results: outdatedResults(request), outdated: true };
      if (row.fenced !== null) throw fencedError(row.fenced, request);
      const written = { revision: row.head_revision, results: decodeResults(request, call, row.results ?? []) };
      if (row.written) this.recent.add(row.written, request, written);
      logAudited(this.options.logger, request, written);
      return written;
    } finally {
      this.options.wakeUp.notify(); // also after a failure: the write may have happened
    }
  }

  private callWrite(call: WriteCall, before: number | undefined): Promise<WriteRow> {
    const { name, text } = call;
    return this.options.database.connected(async (client) => {
      const [row] = await queryOn<WriteRow>(client, { name, text, values: bindValues(call, before) });
      if (!row) throw new Error('the database returned no row for a write');
      if (!call.stash || row.fenced !== null) return row;
      const [kept] = await queryOn<{ results: string }>(client, KEPT_RESULTS);
      return { ...row, results: wireResults(kept?.results ?? '[]') };
    });
  }
}

/** One statement of a write. */
interface WriteBatch {
  readonly request: WriteRequest;
  readonly call: WriteCall;
}

function prepared(request: WriteRequest): WriteBatch {
  return { request, call: writeCall(request) };
}

/** Prepares a batch while the one before is being written: the server and this process work at the same time. */
async function preparedMeanwhile(
  request: WriteRequest | undefined,
  writing: Promise<unknown>,
): Promise<WriteBatch | undefined> {
  if (!request) return undefined;
  writing.catch(() => undefined); // the caller awaits it too
  await yieldToEventLoop();
  return prepared(request);
}

// Reads the results that the write stashed in its session, and clears them.
const KEPT_RESULTS = {
  text: `WITH kept AS MATERIALIZED (SELECT current_setting('causeway.results') AS results)
    SELECT results, set_config('causeway.results', '', false) FROM kept`,
};

/** Returns the error for a second change of one identity: the server raised it and undid the first change. */
function refusedLater(error: unknown, request: WriteRequest, call: WriteCall): unknown {
  if (!(error instanceof DatabaseError) || error.code !== 'CW001') return error;
  try {
    decodeResults(request, call, wireResults(error.detail ?? '[]'));
    return error;
  } catch (refused) {
    return refused;
  }
}
