import { Unavailable, type Identity, type JsonObject, type Resource, type StorePoint } from '@causeway/resources';
import { Backoff, errorText, yieldToEventLoop, type Clock, type Logger } from '@causeway/runtime';
import type {
  ChangeBatch,
  ChangeResult,
  ResourceLookup,
  Note,
  ResourceStore,
  Snapshot,
  StoreMaintenance,
  WriteRequest,
  WriteResult,
} from '@causeway/store';
import { DatabaseError } from 'pg';
import { GroupCommit } from './write/group-commit';
import { LogReader } from './log/log-reader';
import { queryOn, type PostgresPool } from './database/postgres-pool';
import { RecentWrites, type WriteEcho } from './write/recent-writes';
import type { WakeUpSignal } from './log/wake-up-signal';
import { wireResults, type WireResult } from './write/write-decode';
import { fencedError, WRITE_STATEMENT, splitWrite, resultsOf, writeCall, type WriteCall } from './write/write-request';

/** What a PostgresStore is made of; `createPostgresStore` puts it together. */
export interface PostgresStoreOptions {
  readonly pool: PostgresPool;
  /** Rings when the log may have grown. */
  readonly wakeUps: WakeUpSignal;
  readonly clock: Clock;
  readonly logger: Logger;
  /** ms between looks at the log when nothing wakes a watch. */
  readonly pollEvery: number;
}

type LogPage = Awaited<ReturnType<LogReader['changesSince']>>;

/** Changes a statement where they need not be written together: delays nobody else for long (design.md §2.4). */
const BATCH_SIZE = 500;
/** Tombstones a statement. */
const PURGE = 5_000;

interface WriteRow {
  readonly head_revision: number;
  readonly fenced: string | null;
  readonly results: readonly WireResult[] | null;
  readonly written: WriteEcho | null;
}

/**
 * The ResourceStore in Postgres. A write of more than 500 changes with `onRefusal: 'skip'` is written in pieces, each
 * atomic and fenced, the notes with the last: when it throws, the pieces before stay. Single changes that come while
 * another is being written go together with the next.
 */
export class PostgresStore implements ResourceStore, StoreMaintenance {
  private readonly closing = new AbortController();
  private readonly reader: LogReader;
  private readonly reads = new Map<string, Promise<LogPage>>();
  /** What this process has written just now, for watches that stand right before it. */
  private readonly recent = new RecentWrites();
  private readonly grouped: GroupCommit;

  constructor(private readonly parts: PostgresStoreOptions) {
    this.reader = new LogReader(parts.pool);
    this.grouped = new GroupCommit((request) => this.writeNow(request), parts.clock);
  }

  head(): Promise<StorePoint> {
    return this.reader.head();
  }

  floor(): Promise<number> {
    return this.reader.floor();
  }

  async pointKey(): Promise<string> {
    const [row] = await this.parts.pool.read<{ key: string }>({ text: 'SELECT key FROM point_key' });
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
    const { wakeUps, pollEvery, clock, logger } = this.parts;
    const until = AbortSignal.any([signal, this.closing.signal]);
    const backoff = new Backoff({ base: 50, cap: 2_000 });
    let at = since;
    // Rings that are answered by what was taken in: by a read all before it, by a write of our own its one.
    let answered = -1;
    while (!until.aborted) {
      const own = this.recent.after(at, held);
      if (own) {
        answered += 1;
        at = { incarnation: at.incarnation, revision: own.revision };
        yield own;
        continue;
      }
      const seen = wakeUps.count;
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
      await wakeUps.wait(seen, pollEvery, until);
      if (wakeUps.count === seen) answered = -1; // nobody rang: time to look all the same
    }
  }

  async note(area: string, key: string): Promise<JsonObject | undefined> {
    const text = 'SELECT value FROM notes WHERE area = $1 AND key = $2';
    const [row] = await this.parts.pool.read<{ value: JsonObject }>({ text, values: [area, key] });
    return row?.value;
  }

  notes(area: string): Promise<readonly Note[]> {
    const text = 'SELECT area, key, value FROM notes WHERE area = $1 ORDER BY key';
    return this.parts.pool.read<Note>({ text, values: [area] });
  }

  async purgeTombstones(age: number): Promise<number> {
    let purged = 0;
    for (;;) {
      const statement = { text: 'SELECT causeway_purge($1, $2) AS gone', values: [age, PURGE] };
      const [row] = await this.parts.pool.query<{ gone: number }>(statement);
      purged += row?.gone ?? 0;
      if ((row?.gone ?? 0) < PURGE) return purged;
    }
  }

  async newIncarnation(): Promise<StorePoint> {
    const text = 'SELECT incarnation, revision FROM causeway_new_life(NULL)';
    const [point] = await this.parts.pool.query<{ incarnation: string; revision: number }>({ text });
    this.parts.wakeUps.notify();
    return point ?? this.head();
  }

  /** Ends the watches; the connections are ended by who made them. */
  close(): Promise<void> {
    this.closing.abort();
    return Promise.resolve();
  }

  /** Watches at one point that were woken together share one read; one that began before a ring is no answer to it. */
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
    let revision = 0;
    const [first, ...more] = splitWrite(request, BATCH_SIZE);
    let next: WriteBatch | undefined = first && prepared(first);
    while (next) {
      const writing = this.writeBatch(next);
      next = await preparedMeanwhile(more.shift(), writing);
      const written = await writing;
      results.push(...written.results);
      revision = written.revision;
    }
    return { revision, results };
  }

  /** Rings for each piece, so that it is read while the next is written. */
  private async writeBatch({ request, call }: WriteBatch): Promise<WriteResult> {
    try {
      const row = await this.callWrite(call).catch((error: unknown) => {
        throw refusedLater(error, request, call);
      });
      if (row.fenced !== null) throw fencedError(row.fenced, request);
      const written = { revision: row.head_revision, results: resultsOf(request, call, row.results ?? []) };
      if (row.written) this.recent.add(row.written, request, written);
      return written;
    } finally {
      this.parts.wakeUps.notify(); // also after a failure: the write may have happened
    }
  }

  private callWrite(call: WriteCall): Promise<WriteRow> {
    return this.parts.pool.connected(async (client) => {
      const [row] = await queryOn<WriteRow>(client, { name: 'write', text: WRITE_STATEMENT, values: call.values });
      if (!row) throw new Error('the database answered a write with nothing');
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

/** Prepares a piece once the one before is on its way: the server and this process then work at the same time. */
async function preparedMeanwhile(
  request: WriteRequest | undefined,
  writing: Promise<unknown>,
): Promise<WriteBatch | undefined> {
  if (!request) return undefined;
  writing.catch(() => undefined); // whoever waits for it hears of it
  await yieldToEventLoop();
  return prepared(request);
}

// Reads what the write has left in its session, and lets go of it.
const KEPT_RESULTS = {
  text: `WITH kept AS MATERIALIZED (SELECT current_setting('causeway.results') AS results)
    SELECT results, set_config('causeway.results', '', false) FROM kept`,
};

/** The refusal of a second change of one identity comes as an error, since the first one had been written and was undone. */
function refusedLater(error: unknown, request: WriteRequest, call: WriteCall): unknown {
  if (!(error instanceof DatabaseError) || error.code !== 'CW001') return error;
  try {
    resultsOf(request, call, wireResults(error.detail ?? '[]'));
    return error;
  } catch (refused) {
    return refused;
  }
}
