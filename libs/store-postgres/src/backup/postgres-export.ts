import { isJsonObject, type JsonObject } from '@causeway/resources';
import type { BackupReceiver, BackupSelection, BackupTable, StoreExport, StoreFacts } from '@causeway/store';
import type { ClientBase } from 'pg';
import { queryOn, type StoreDatabase } from '../database/store-database';

/** Rows a page, and most bytes of their text. */
const PAGE = 200;

interface FactsRow {
  readonly incarnation: string;
  readonly revision: number;
  readonly floor: number;
  readonly creation_order: number;
  readonly epoch: number;
  readonly session_floor: number;
  readonly point_key: string;
  readonly self: JsonObject | null;
}

/** The rows of a table that a backup contains, as `SELECT … FROM table WHERE condition ORDER BY order`. */
interface TableRows {
  readonly table: BackupTable;
  readonly row: string;
  readonly condition: string;
  readonly order: string;
}

/** Reads the whole store in one transaction that only reads: a snapshot of one revision, page by page. */
export class PostgresExport implements StoreExport {
  constructor(private readonly database: StoreDatabase) {}

  async export(selection: BackupSelection, receive: BackupReceiver): Promise<void> {
    await this.database.connected(async (client) => {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      try {
        const tables = listTables(selection);
        await receive.facts(await readFacts(client, selection, tables));
        for (const each of tables) await sendRows(client, each, receive);
      } finally {
        await client.query('ROLLBACK');
      }
    });
  }
}

function listTables({ secrets, secretKinds, secretAreas }: BackupSelection): readonly TableRows[] {
  const without = (column: string, values: readonly string[]): string =>
    secrets ? 'true' : `${column} <> ALL (ARRAY[${values.map(quoted).join(', ')}]::text[])`;
  return [
    // In the order of their last write: a restore is as fast in any order, and a person finds recent changes at the end.
    { table: 'resources', row: 'to_jsonb(t)', condition: without('kind', secretKinds), order: 'revision' },
    {
      table: 'notes',
      row: 'to_jsonb(t)',
      condition: `${without('area', secretAreas)} AND area <> ALL (ARRAY[${HERE_ONLY.map(quoted).join(', ')}]::text[])`,
      order: 'area, key',
    },
    { table: 'zone_sessions', row: 'to_jsonb(t)', condition: 'true', order: 'zone' },
    // The session of a lease is left out, because whoever knows it may renew the lease. The agent takes its lease again.
    {
      table: 'agent_leases',
      row: `to_jsonb(t) || '{"session": ""}'`,
      condition: 'true',
      order: 'mesh, name, namespace',
    },
  ];
}

/** Areas of metadata about the host of a control plane: a restored control plane creates them again. */
const HERE_ONLY: readonly string[] = ['admin-token'];

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

async function readFacts(
  client: ClientBase,
  { secrets }: BackupSelection,
  tables: readonly TableRows[],
): Promise<StoreFacts> {
  const [row] = await queryOn<FactsRow>(client, { text: FACTS });
  if (!row) throw new Error('the store has lost its head: a table of one row is empty');
  const { role, zone, storeId } = isJsonObject(row.self) ? row.self : {};
  const owner = {
    role: role === 'zone' ? 'zone' : 'global',
    zone: typeof zone === 'string' ? zone : '',
    storeId: typeof storeId === 'string' ? storeId : '',
  } as const;
  const head = {
    incarnation: row.incarnation,
    revision: row.revision,
    floor: row.floor,
    creationOrder: row.creation_order,
    epoch: row.epoch,
    sessionFloor: row.session_floor,
  };
  const counts = { resources: 0, notes: 0, zone_sessions: 0, agent_leases: 0 };
  for (const { table, condition } of tables) {
    const text = `SELECT count(*) AS rows FROM ${table} t WHERE ${condition}`;
    const [counted] = await queryOn<{ rows: number }>(client, { text });
    counts[table] = counted?.rows ?? 0;
  }
  return { owner, head, secrets, ...(secrets ? { pointKey: row.point_key } : {}), counts };
}

const FACTS = `SELECT h.incarnation, h.revision, h.floor, h.creation_order, l.epoch, f.number AS session_floor,
    k.key AS point_key, (SELECT value FROM notes WHERE area = 'identity' AND key = 'self') AS self
  FROM store_head h, leader l, session_floor f, point_key k`;

async function sendRows(
  client: ClientBase,
  { table, row, condition, order }: TableRows,
  receive: BackupReceiver,
): Promise<void> {
  const select = `SELECT (${row})::text AS row FROM ${table} t WHERE ${condition} ORDER BY ${order}`;
  await client.query(`DECLARE backup NO SCROLL CURSOR FOR ${select}`);
  for (;;) {
    const found = await queryOn<{ row: string }>(client, { text: `FETCH ${PAGE} FROM backup` });
    if (found.length > 0) await receive.rows({ table, rows: found.map((each) => each.row) });
    if (found.length < PAGE) break;
  }
  await client.query('CLOSE backup');
}
