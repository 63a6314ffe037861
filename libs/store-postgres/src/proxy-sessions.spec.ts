import type { ProxyFacts, ProxySession } from '@causeway/store';
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres';
import { createPostgresBackend, type PostgresBackend } from './postgres-backend';

const facts: ProxyFacts = {
  ...{ kind: 'dataplane', node: 'default.web', address: '10.0.0.1', userAgent: 'envoy 1.40.0', form: 'delta' },
  ...{ since: 1, streams: 1, types: [], isSettled: true, rejected: [], refused: [] },
};
const session = (proxy: string, connected = true): ProxySession => ({ proxy, connected, facts });

describe('sessions of proxies', () => {
  let database: TestDatabase;
  let backends: readonly PostgresBackend[];
  beforeAll(async () => {
    database = await createTestDatabase();
    const connect = () => createPostgresBackend({ url: database.url });
    backends = [await connect(), await connect()];
  });
  afterAll(async () => {
    await Promise.all(backends.map((backend) => backend.close()));
    await database.drop();
  });
  const store = (replica = 0) => {
    const backend = backends[replica];
    if (!backend) throw new Error('no such replica');
    return backend.proxies;
  };
  const report = (instance: string, version: number, ...sessions: readonly ProxySession[]) =>
    store().report({ instance, version, incarnation: 'i', revision: 10 * version, isEnd: false, sessions });
  const read = async (instance: string, known = new Map<string, number>()) =>
    (await store(1).read(known)).find((replica) => replica.instance === instance);

  it('are read by other replicas, each only what is new since its reader read', async () => {
    expect(await report('a', 1, session('one'), session('two'))).toBe(false);
    const first = await read('a');
    expect(first).toMatchObject({ version: 1, revision: 10, incarnation: 'i', isEnd: false });
    expect(first?.sessions.map(({ proxy }) => proxy)).toEqual(['one', 'two']);
    expect(first?.sessions[0]).toMatchObject({ connected: true, version: 1, changedAt: first?.seenAt, facts });
    expect(await report('a', 2, session('two', false))).toBe(true);
    const second = await read('a', new Map([['a', 1]]));
    expect(second).toMatchObject({ version: 2, revision: 20 });
    expect(second?.sessions).toMatchObject([{ proxy: 'two', connected: false, version: 2 }]);
    expect((await read('a', new Map([['a', 2]])))?.sessions).toEqual([]);
  });

  it('a heartbeat is by the clock of the store, and changes no session', async () => {
    await report('beat', 1, session('one'));
    const before = await read('beat');
    await report('beat', 2);
    const after = await read('beat', new Map([['beat', 1]]));
    expect(after?.seenAt).toBeGreaterThanOrEqual(before?.seenAt ?? Infinity);
    expect(after?.now).toBeGreaterThanOrEqual(after?.seenAt ?? Infinity);
    expect(after?.sessions).toEqual([]);
  });

  it('1,000 proxies are one statement that raises no revision', async () => {
    const head = await backends[0]?.store.head();
    const many = Array.from({ length: 1_000 }, (_, i) => session(`p-${i}`));
    await report('many', 1, ...many);
    expect((await read('many'))?.sessions).toHaveLength(1_000);
    expect(await backends[0]?.store.head()).toEqual(head);
  });

  it('are forgotten unless they were written again; a forgotten replica is told to report all', async () => {
    await report('gone', 1, session('one', false), session('two', false));
    await report('gone', 2, session('two'));
    await store(1).forget(['one', 'two'].map((proxy) => ({ instance: 'gone', proxy, version: 1 })));
    expect((await read('gone'))?.sessions.map(({ proxy }) => proxy)).toEqual(['two']);
    await store(1).forgetReplicas([{ instance: 'gone', version: 1 }]);
    expect(await read('gone')).toBeDefined();
    await store(1).forgetReplicas([{ instance: 'gone', version: 2 }]);
    expect(await read('gone')).toBeUndefined();
    expect(await report('gone', 3)).toBe(false);
    expect((await read('gone'))?.sessions).toEqual([]);
  });
});
