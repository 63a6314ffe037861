import { isJsonObject } from '@causeway/resources';
import { errorText, type Logger } from '@causeway/runtime';
import {
  BackupReader,
  MAX_BACKUP_LINE,
  ownerProblem,
  StoreNotEmpty,
  type BackupHeader,
  type BackupOwner,
  type BackupProblem,
  type BackupRecord,
  type BackupTable,
  type RestoreResult,
} from '@causeway/store';
import { DatabaseError, type Client } from 'pg';
import { databaseFailure } from '../database/database-failure';
import { migrate, MIGRATION_LOCK } from '../database/migrate';
import { queryOn } from '../database/store-database';
import { databaseServers } from '../servers/server-urls';

/** Rows a statement. */
const BATCH = 500;
/** Characters a statement: rows may be large. */
const BATCH_TEXT = MAX_BACKUP_LINE;
const CONNECT_TIMEOUT = 10_000;

export interface RestoreOptions {
  /** The URL of an empty database. */
  readonly url: string;
  readonly logger: Logger;
  /** The control plane that restores. */
  readonly owner: Pick<BackupOwner, 'role' | 'zone'>;
  /** Whether the restore runs completely and then rolls back. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}

/** Nothing is restored if the text has problems. */
export type Restored =
  | { readonly ok: true; readonly header: BackupHeader; readonly result: RestoreResult }
  | { readonly ok: false; readonly problems: readonly BackupProblem[]; readonly total: number };

/**
 * Restores a backup into an empty database in one transaction: all of it or nothing, so that a restore that was interrupted
 * is run again. Identities, generations, creation orders, addresses and freed addresses are those of the backup; the store
 * begins a new incarnation (docs/design.md §2.7). No control plane may start on the database meanwhile: it waits.
 *
 * Rejects with StoreNotEmpty, and with Unavailable when the database goes away. `lines` are without their ends.
 */
export async function restoreBackup(lines: AsyncIterable<string>, options: RestoreOptions): Promise<Restored> {
  const servers = databaseServers(options.url);
  await migrate({ servers, logger: options.logger, tolerateNewer: false });
  const client = servers.client({
    application_name: 'causeway import',
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    keepAlive: true,
  });
  client.on('error', () => undefined); // the next statement fails
  try {
    await client.connect();
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]); // as every start does; released with the connection
    await checkEmpty(client);
    await client.query('BEGIN');
    const restored = await load(client, readable(lines), options);
    await client.query(restored.ok && !options.dryRun ? 'COMMIT' : 'ROLLBACK');
    return restored;
  } catch (error) {
    const ours = error instanceof StoreNotEmpty || error instanceof BackupUnreadable || options.signal.aborted;
    throw ours ? error : databaseFailure(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The text of a backup could not be read: no such file, or the pipe broke. */
class BackupUnreadable extends Error {}

async function* readable(lines: AsyncIterable<string>): AsyncGenerator<string> {
  try {
    yield* lines;
  } catch (cause) {
    throw new BackupUnreadable(`the backup cannot be read: ${errorText(cause)}`, { cause });
  }
}

/** A store in which nothing was ever written, and on which no control plane runs. */
async function checkEmpty(client: Client): Promise<void> {
  const [row] = await queryOn<EmptyRow>(client, { text: EMPTY });
  if (row?.primary === false) throw new StoreNotEmpty('it is a standby');
  if (row && isJsonObject(row.self)) {
    const { role, zone } = row.self;
    throw new StoreNotEmpty(
      role === 'zone' ? `it is of zone ${JSON.stringify(zone)}` : 'it is of a global control plane',
    );
  }
  if (!row || row.revision > 0 || row.occupied) throw new StoreNotEmpty('it holds resources');
  if (row.connected > 0) throw new StoreNotEmpty('a control plane starts on it');
}

interface EmptyRow {
  readonly primary: boolean;
  readonly self: unknown;
  readonly revision: number;
  readonly occupied: boolean;
  readonly connected: number;
}

const EMPTY = `SELECT causeway_identify() AS primary,
  (SELECT value FROM notes WHERE area = 'identity' AND key = 'self') AS self,
  (SELECT revision::float8 FROM store_head) AS revision,
  EXISTS (SELECT 1 FROM resources) AS occupied,
  (SELECT count(*)::int FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name IN ('causeway', 'causeway lease')) AS connected`;

async function load(
  client: Client,
  lines: AsyncIterable<string>,
  { owner, signal }: RestoreOptions,
): Promise<Restored> {
  const reader = new BackupReader();
  const loader = new RowLoader(client);
  for await (const text of lines) {
    signal.throwIfAborted();
    const line = reader.read(text);
    if (line.type === 'header') {
      const wrong = ownerProblem(line.header.owner, owner);
      if (wrong !== undefined) return { ok: false, problems: [{ line: 1, reason: wrong }], total: 1 };
    } else if (line.type === 'problems' && reader.header === undefined) {
      break; // The file is not a backup: the lines after the first have no meaning.
    } else if (line.type === 'record' && reader.total === 0) {
      const problem = await loader.add(line.record, reader.line);
      if (problem) return { ok: false, problems: [problem], total: 1 };
    }
  }
  reader.close();
  const problem = reader.total === 0 ? await loader.flush() : undefined;
  if (problem) return { ok: false, problems: [problem], total: 1 };
  const { header } = reader;
  if (!reader.whole || !header) return { ok: false, problems: reader.problems, total: reader.total };
  return { ok: true, header, result: await finish(client, header) };
}

/** Inserts rows of one table a statement. */
class RowLoader {
  private table: BackupTable | undefined;
  private rows: string[] = [];
  private size = 0;
  private first = 0;
  private last = 0;

  constructor(private readonly client: Client) {}

  /** Resolves with the problem that the database finds in the rows added so far, if any. */
  async add({ table, row }: BackupRecord, line: number): Promise<BackupProblem | undefined> {
    const full = this.rows.length >= BATCH || this.size >= BATCH_TEXT || this.table !== table;
    const problem = full ? await this.flush() : undefined;
    if (this.rows.length === 0) this.first = line;
    const text = JSON.stringify(row);
    [this.table, this.last, this.size] = [table, line, this.size + text.length];
    this.rows.push(text);
    return problem;
  }

  async flush(): Promise<BackupProblem | undefined> {
    const { table, rows, first, last } = this;
    if (!table || rows.length === 0) return undefined;
    [this.rows, this.size] = [[], 0];
    const text = `INSERT INTO ${table} SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)${REPLACING[table]}`;
    try {
      await this.client.query(text, [`[${rows.join(',')}]`]);
      return undefined;
    } catch (error) {
      // Integrity violations, and values that cannot be read as the type of their column.
      if (!(error instanceof DatabaseError) || !/^2[23]/.test(error.code ?? '')) throw error;
      const detail = error.detail === undefined ? '' : ` (${error.detail})`;
      return { line: first, reason: `${table}, lines ${first} to ${last}: ${error.message}${detail}` };
    }
  }
}

/** The metadata entry that every new database has contains the id of the store. */
const REPLACING: Readonly<Record<BackupTable, string>> = {
  resources: '',
  zone_sessions: '',
  agent_leases: '',
  notes: ' ON CONFLICT ON CONSTRAINT notes_pkey DO UPDATE SET value = excluded.value',
};

/** Sets the head. Revisions go on with a gap, as in every new incarnation. */
async function finish(client: Client, { head, pointKey }: BackupHeader): Promise<RestoreResult> {
  await client.query(
    `UPDATE store_head SET incarnation = gen_random_uuid(), revision = $1, floor = $2, creation_order = $3,
      newest_zone = '', others_order = $3`,
    [head.revision, head.floor, head.creationOrder],
  );
  await client.query('SELECT causeway_new_incarnation(NULL)');
  await client.query(`UPDATE leader SET epoch = $1, holder = '', witness = 'lock'`, [head.epoch]);
  await client.query(`UPDATE leader_lease SET epoch = $1, holder = '', expires_at = 'epoch'`, [head.epoch]);
  await client.query('UPDATE session_floor SET number = $1', [head.sessionFloor]);
  if (pointKey !== undefined) await client.query('UPDATE point_key SET key = $1', [pointKey]);
  const [result] = await queryOn<RestoreResult>(client, { text: RESULT });
  if (!result) throw new Error('the store has lost its head: a table of one row is empty');
  return result;
}

const RESULT = `SELECT (SELECT count(*)::int FROM resources WHERE deleted_at IS NULL) AS resources,
  (SELECT count(*)::int FROM resources WHERE deleted_at IS NOT NULL) AS tombstones,
  (SELECT count(*)::int FROM resources WHERE vip IS NOT NULL) AS addresses,
  incarnation, revision::float8 AS revision FROM store_head`;
