import { Client } from 'pg';
import type { LeaseKey } from '@causeway/store';
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres';
import { createPostgresBackend } from '../testing/connected-backend';
import type { PostgresBackend } from './postgres-backend';

/*
 * Calls through repositories cost the statements that are written here: no transaction around one of them, no read
 * before a write.
 */

const LONG = 60_000;
/** Statements of connections: they listen, probe, and identify the server. */
const NOT_COUNTED = /^LISTEN|^SELECT 1$|causeway_identify/;
const OPENING = { storeId: 'store', incarnation: 'i', epoch: 7, instance: 'one' };

describe('a repository', () => {
  let database: TestDatabase;
  let backend: PostgresBackend;
  let sent: string[];
  let sending: jest.SpyInstance;
  beforeAll(async () => {
    database = await createTestDatabase();
    backend = await createPostgresBackend({ url: database.url });
    const query: unknown = Reflect.get(Client.prototype, 'query');
    sending = jest.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...args: unknown[]) {
      if (typeof args[0] === 'string' && !NOT_COUNTED.test(args[0])) sent.push(args[0].replace(/\s.*/s, ''));
      return typeof query === 'function' ? Reflect.apply(query, this, args) : undefined;
    });
  });
  beforeEach(() => void (sent = []));
  afterAll(async () => {
    sending.mockRestore();
    await backend.close();
    await database.drop();
  });

  async function take(...leases: readonly LeaseKey[]): Promise<void> {
    const agent = { instance: 'a', run: 'r', startedAt: 1, machine: 'm', address: '192.0.2.1' };
    await backend.agentLeases.take(
      leases.map((key) => ({ ...key, agent, session: 's' })),
      LONG,
    );
    sent = [];
  }

  it('drops a lease of this session by one statement', async () => {
    const key = { mesh: 'm', namespace: 'n', name: 'dropped' };
    await take(key);
    await backend.agentLeases.drop({ ...key, session: 's' });
    expect(sent).toEqual(['DELETE']);
    expect(await backend.agentLeases.find([key])).toEqual([]);
  });

  it('reads a page of leases by one statement, and counts all of them by one more where it is full', async () => {
    await take(...['a', 'b', 'c'].map((name) => ({ mesh: 'pages', namespace: 'n', name })));
    expect(await backend.agentLeases.page(0, 10)).toMatchObject({ total: 3 });
    expect(sent).toEqual(['SELECT']);
    sent = [];
    expect(await backend.agentLeases.page(0, 2)).toMatchObject({ total: 3, leases: [{ name: 'a' }, { name: 'b' }] });
    expect(sent).toEqual(['SELECT', 'SELECT']);
  });

  it('binds a zone to another store by one statement', async () => {
    await backend.sessions.open({ zone: 'adopted', ...OPENING });
    sent = [];
    expect(await backend.sessions.adopt('adopted', 'another')).toBe(true);
    expect(await backend.sessions.adopt('adopted', 'another')).toBe(false);
    expect(sent).toEqual(['UPDATE', 'UPDATE']);
  });

  it('replaces the epoch that it read, and reads it again where another one is there', async () => {
    await backend.sessions.open({ zone: 'reset', ...OPENING });
    sent = [];
    expect(await backend.sessions.resetEpoch('reset')).toBe(7);
    expect(sent).toEqual(['SELECT', 'UPDATE']);
    const answers = await Promise.all([1, 2, 3, 4].map(() => backend.sessions.resetEpoch('reset')));
    expect(answers).toEqual([-1, -1, -1, -1]);
  });

  it('reads a page of the audit log by one statement, and where a search ends by another', async () => {
    await backend.audit.page({ user: 'anna', size: 5 });
    expect(sent).toEqual(['SELECT']);
    sent = [];
    await backend.audit.page({ user: 'anna', verb: 'get', size: 5 });
    expect(sent).toEqual(['SELECT', 'SELECT']);
  });

  it('makes the lock the witness again by one statement, and only for the leader', async () => {
    const epoch = await backend.lease.takeOver(0, 'one', LONG, { from: 'lock', to: 'lease' });
    expect(epoch).toBeDefined();
    sent = [];
    expect(await backend.lease.returnToLock(epoch ?? 0, 'two')).toBe(false);
    expect(await backend.lease.returnToLock(epoch ?? 0, 'one')).toBe(true);
    expect(sent).toEqual(['UPDATE', 'UPDATE']);
    expect(await backend.lease.readEpoch()).toMatchObject({ witness: 'lock' });
  });

  it('reads the compaction revision by one statement', async () => {
    expect(typeof (await backend.store.compactionRevision())).toBe('number');
    expect(sent).toEqual(['SELECT']);
  });
});
