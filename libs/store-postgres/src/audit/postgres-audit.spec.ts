import { auditSource, type AuditQuery, type AuditRecord } from '@causeway/store';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/postgres';
import { freshId, put } from '@causeway/store/testing';
import type { PostgresBackend } from '../postgres-backend';
import { createPostgresBackend } from '../../testing/connected-backend';
import { writeCall } from '../write/write-request';
import { AuditRow } from '../database/entities';
import { StoreDatabase } from '../database/store-database';
import { databaseServers } from '../servers/server-urls';
import { pageQuery } from './audit-query';

const SOURCE = auditSource({
  user: 'anna',
  groups: [],
  recognizedBy: 'user-token',
  address: '192.0.2.1',
  via: 'REST',
  userAgent: '',
});
const RECORD: AuditRecord = {
  ...SOURCE,
  verb: 'get',
  kind: 'Mesh',
  mesh: '',
  zone: '',
  namespace: '',
  name: 'm',
  activity: '',
  result: 'refused',
  reason: 'Forbidden',
  age: 0,
};

describe('PostgresAudit', () => {
  let database: TestDatabase;
  let client: Client;
  let backend: PostgresBackend;
  beforeEach(async () => {
    database = await createTestDatabase();
    backend = await createPostgresBackend({ url: database.url });
    client = new Client({ connectionString: database.url });
    client.on('error', () => undefined); // a test ends its connection
    await client.connect();
  });
  afterEach(async () => {
    await client.end().catch(() => undefined);
    await backend.close();
    await database.drop();
  });

  async function write(id = freshId()): Promise<void> {
    const { text, values } = writeCall({ changes: [put(id, {}, { audit: SOURCE })], onRefusal: 'abort' });
    await client.query(text, [...values]);
  }

  /** The plan by which Postgres reads a page. */
  async function explain(query: AuditQuery): Promise<string> {
    const options = { size: 1, statementTimeout: 5_000, applicationName: 'test' };
    const store = new StoreDatabase({ servers: databaseServers(database.url), ...options });
    await store.connect();
    const [text, values] = await store.find(AuditRow, (audit) =>
      Promise.resolve(pageQuery(audit, query).getQueryAndParameters()),
    );
    await store.close();
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  }

  it('has neither write nor entry when the writer dies before the commit, and both after it', async () => {
    const [lost, kept] = [freshId(), freshId()];
    await write(kept);
    await client.query('BEGIN');
    await write(lost);
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const killer = new Client({ connectionString: database.url });
    await killer.connect();
    await killer.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    await killer.end();
    // A write waits for the head that the dead one held.
    await backend.store.write({ changes: [put(freshId('Other'))], onRefusal: 'abort' });
    expect(await backend.store.get(lost)).toBeUndefined();
    expect(await backend.store.get(kept)).toBeDefined();
    const { entries } = await backend.audit.page({ size: 10 });
    expect(entries.map(({ name }) => name)).toEqual([kept.name]);
  });

  it('ends a search that an index does not serve, and goes on from there', async () => {
    await backend.audit.record([{ ...RECORD, verb: 'rare' }]);
    await client.query(`INSERT INTO audit (at, actor, groups, recognized_by, address, via, user_agent, verb, kind, mesh, zone,
        namespace, name, activity, result, reason)
      SELECT (SELECT max(at) FROM audit) + n, 'bob', '[]', '', '', 'REST', '', 'get', 'Mesh', '', '', '', 'm', '', 'done', ''
      FROM generate_series(1, 60000) AS n`);
    const first = await backend.audit.page({ verb: 'rare', size: 10 });
    expect(first.entries).toEqual([]);
    expect(first.next).toBeDefined();
    const second = await backend.audit.page({ verb: 'rare', size: 10, ...(first.next ? { after: first.next } : {}) });
    expect(second.entries.map(({ verb }) => verb)).toEqual(['rare']);
    expect(second.next).toBeUndefined();
    expect(await backend.audit.page({ user: 'nobody', size: 10 })).toEqual({ entries: [] });

    await client.query('ANALYZE audit');
    expect(await explain({ kind: 'Mesh', mesh: '', name: 'other', size: 1 })).toContain('audit_resource');
    expect(await explain({ user: 'anna', verb: 'rare', size: 1 })).toContain('audit_actor');
    expect(await explain({ result: 'refused', size: 1 })).toContain('audit_refused');
    expect(await explain({ until: 5, size: 1 })).toMatch(/^Limit.*\n *-> *Index Scan Backward using audit_order/);

    const bounds = { age: 3_600_000, entries: 20_000, refusals: 20_000 };
    expect(await backend.audit.purge(bounds)).toBe(40_001);
    expect(await backend.audit.purge(bounds)).toBe(0);
  });
});
