import type { Client } from 'pg';
import { cpuSeconds } from '../support/process-metrics';
import type { ReplicaProcess } from '../../test/chaos/sync/replica-process';
import { OWNERS, type Owner, type SoakMesh } from './soak-mesh';

/** Figures that a process of a replica reports. */
export interface ProcessSample {
  /** `east-0`. */
  readonly replica: string;
  /** Two lives of a replica have different ones. */
  readonly pid: number;
  /** CPU time so far, s. */
  readonly cpu: number;
  /** Gauges by name, summed over their labels: resident memory, heap, file descriptors, lag of the event loop, sizes of caches. */
  readonly gauges: Readonly<Record<string, number>>;
}

/** A table of a control plane's database. */
export interface TableSample {
  readonly owner: Owner;
  readonly table: string;
  /** With indexes and TOAST. */
  readonly bytes: number;
  readonly live: number;
  readonly dead: number;
  readonly vacuums: number;
}

/** Rows of the log of a database. */
export interface LogSample {
  readonly owner: Owner;
  readonly living: number;
  readonly tombstones: number;
  readonly revision: number;
  /** Connections to the database. */
  readonly connections: number;
  readonly bytes: number;
}

/** On a busy machine an answer takes its time, ms. */
const PATIENCE = 20_000;

/** Samples of every control plane, in order; a replica that is down is left out. */
export async function sampleProcesses(mesh: SoakMesh): Promise<ProcessSample[]> {
  const samples: ProcessSample[] = [];
  for (const owner of OWNERS) {
    for (const [n, replica] of mesh.of(owner).entries()) {
      const sample = replica.down ? undefined : await sampleProcess(replica, `${owner}-${n}`).catch(() => undefined);
      if (sample) samples.push(sample);
    }
  }
  return samples;
}

async function sampleProcess({ plane }: ReplicaProcess, replica: string): Promise<ProcessSample | undefined> {
  if (!plane) return undefined;
  const answer = await fetch(`${plane.diagnosticsUrl}/metrics`, { signal: AbortSignal.timeout(PATIENCE) });
  return { replica, pid: plane.pid, cpu: cpuSeconds(plane.pid), gauges: gaugesOf(await answer.text()) };
}

/** Sums of gauges by their name; other metrics grow by nature. */
function gaugesOf(text: string): Readonly<Record<string, number>> {
  const gauges: Record<string, number> = {};
  let gauge = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('# TYPE ')) {
      const [, , name = '', type] = line.split(' ');
      gauge = type === 'gauge' ? name : '';
    } else if (gauge !== '' && line.startsWith(gauge)) {
      const value = Number(line.slice(line.lastIndexOf(' ') + 1));
      if (Number.isFinite(value)) gauges[gauge] = (gauges[gauge] ?? 0) + value;
    }
  }
  return gauges;
}

const TABLES = `
  SELECT relname AS table, pg_total_relation_size(relid)::float8 AS bytes, n_live_tup::float8 AS live,
    n_dead_tup::float8 AS dead, (vacuum_count + autovacuum_count)::float8 AS vacuums
  FROM pg_stat_user_tables ORDER BY relname`;

const LOG = `
  SELECT count(*) FILTER (WHERE deleted_at IS NULL)::float8 AS living,
    count(*) FILTER (WHERE deleted_at IS NOT NULL)::float8 AS tombstones,
    (SELECT revision FROM store_head)::float8 AS revision,
    (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database())::float8 AS connections,
    pg_database_size(current_database())::float8 AS bytes
  FROM resources`;

/** Tables and logs of all databases. */
export async function sampleDatabases(
  clients: ReadonlyMap<Owner, Client>,
): Promise<{ readonly tables: TableSample[]; readonly logs: LogSample[] }> {
  const tables: TableSample[] = [];
  const logs: LogSample[] = [];
  for (const owner of OWNERS) {
    const client = clients.get(owner);
    if (!client) continue;
    for (const row of (await client.query<Omit<TableSample, 'owner'>>(TABLES)).rows) tables.push({ owner, ...row });
    for (const row of (await client.query<Omit<LogSample, 'owner'>>(LOG)).rows) logs.push({ owner, ...row });
  }
  return { tables, logs };
}

/** Vacuums each database as an operator may; how long each took and how many bytes it had before and has after. */
export async function vacuum(clients: ReadonlyMap<Owner, Client>): Promise<Readonly<Record<string, unknown>>> {
  const done: Record<string, unknown> = {};
  const size = `SELECT pg_total_relation_size('resources')::float8 AS bytes`;
  for (const [owner, client] of clients) {
    const before = (await client.query<{ bytes: number }>(size)).rows[0]?.bytes;
    const began = performance.now();
    await client.query('VACUUM (ANALYZE)');
    const ms = Math.round(performance.now() - began);
    done[owner] = { ms, resources_bytes: [before, (await client.query<{ bytes: number }>(size)).rows[0]?.bytes] };
  }
  return done;
}
