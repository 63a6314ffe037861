import { silentLogger } from '@causeway/runtime';
import { BACKUP_VERSION, BackupWriter, type BackupSelection } from '@causeway/store';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/postgres';
import { copyFacts, freshId, held, put, write } from '@causeway/store/testing';
import type { PostgresBackend } from '../postgres-backend';
import { createPostgresBackend } from '../../testing/connected-backend';
import { restoreBackup, type Restored } from './postgres-restore';

const EAST = { role: 'zone', zone: 'east' } as const;
const ALL: BackupSelection = { secrets: true, secretKinds: ['Secret'], secretAreas: ['keys'] };

/** Selects all rows with the columns that a backup keeps. */
const ROWS = `SELECT kind, mesh, zone, namespace, name, uid, labels, spec, status, generation, creation_order, created_at,
  modified_at, revision, origin_incarnation, origin_revision, origin_committed_at, host(vip) AS vip, freed,
  grace_started_at, deleted_at FROM resources ORDER BY revision`;

describe('a backup of a store in Postgres', () => {
  const databases: TestDatabase[] = [];
  const open: PostgresBackend[] = [];
  let source: PostgresBackend;
  let sourceUrl: string;
  let lines: readonly string[];

  const kept = freshId('MeshService');
  const gone = freshId('MeshService');
  const copied = { ...freshId('MeshService'), zone: 'west' };
  const secret = freshId('Secret');

  beforeAll(async () => {
    sourceUrl = await empty();
    source = await start(sourceUrl);
    const { store, sessions } = source;
    const note = (area: string, key: string, value = {}): { area: string; key: string; value: object } => ({
      area,
      key,
      value,
    });
    const self = note('identity', 'self', { ...EAST, storeId: 'store-of-east' });
    const notes = [self, note('vip', 'cursor', { ip: '241.0.0.9' }), note('keys', 'k'), note('admin-token', 'latest')];
    await write(
      store,
      put(kept, { n: 1 }),
      put(gone),
      put(copied, {}, { copy: copyFacts() }),
      put(secret, { data: 'cGVhcg==' }),
    );
    await store.write({ changes: [], onRefusal: 'abort', metadata: notes as [] });
    // kept had another address before; gone left one behind.
    for (const [id, vip] of [
      [kept, '241.0.0.5'],
      [kept, '241.0.0.6'],
      [gone, '241.0.0.7'],
      [copied, '241.0.0.8'],
    ] as const)
      await write(store, { type: 'patch', id, expect: 'any', vip, status: { vip: { ip: vip } } });
    await write(store, put(kept, { n: 2 }), { type: 'delete', id: gone, expect: 'any' });
    const west = { zone: 'west', storeId: 'store-of-west', incarnation: 'w', epoch: 4, instance: 'w-1' };
    const opened = await sessions.open(west);
    const session = opened.type === 'opened' ? opened.session : 0;
    await sessions.markWhole([{ zone: 'west', session, incomplete: ['Dataplane'] }]);
    await source.lease.takeOver(0, 'east-1', 1);
    lines = await backupOf(source, ALL);
  });
  afterAll(async () => {
    await Promise.all(open.map((backend) => backend.close()));
    await Promise.all(databases.map((database) => database.drop()));
  });

  async function empty(): Promise<string> {
    const database = await createTestDatabase();
    databases.push(database);
    return database.url;
  }

  async function start(url: string): Promise<PostgresBackend> {
    const backend = await createPostgresBackend({ url });
    open.push(backend);
    return backend;
  }

  async function backupOf({ backup }: PostgresBackend, selection: BackupSelection): Promise<string[]> {
    const writer = new BackupWriter();
    const found: string[] = [];
    await backup.export(selection, {
      facts: async (facts) =>
        void found.push(writer.header({ version: BACKUP_VERSION, program: 'test', takenAt: 0, ...facts })),
      rows: async ({ table, rows }) => void found.push(...rows.map((row) => writer.record(table, row))),
    });
    return [...found, writer.end()].map((line) => line.trimEnd());
  }

  async function restore(
    url: string,
    text: readonly string[],
    more: { dryRun?: boolean; signal?: AbortSignal } = {},
  ): Promise<Restored> {
    const given = async function* (): AsyncGenerator<string> {
      yield* text;
    };
    const { dryRun = false, signal = new AbortController().signal } = more;
    return restoreBackup(given(), { url, logger: silentLogger, owner: EAST, dryRun, signal });
  }

  async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query<Record<string, unknown>>(text);
    await client.end();
    return rows;
  }

  it('brings back every row, tombstones and freed addresses, the notes, the sessions and the epoch', async () => {
    const url = await empty();
    const restored = await restore(url, lines);
    expect(restored).toMatchObject({ ok: true, result: { resources: 3, tombstones: 1, addresses: 2 } });
    expect(await query(url, ROWS)).toEqual(await query(sourceUrl, ROWS));
    expect(await query(url, 'SELECT zone FROM zone_sessions WHERE whole_order > 0')).toHaveLength(1);
    for (const table of ['zone_sessions', 'session_floor', 'point_key', 'leader'].map(
      (name) => `SELECT * FROM ${name}`,
    )) {
      const [here, there] = [await query(url, table), await query(sourceUrl, table)];
      const heldBy = table.endsWith('leader') ? { holder: '' } : {};
      expect(here).toEqual(there.map((row) => ({ ...row, ...heldBy })));
    }
    const notes = `SELECT * FROM notes WHERE area <> 'admin-token' ORDER BY area, key`;
    expect(await query(url, notes)).toEqual(await query(sourceUrl, notes));
    expect(await query(url, `SELECT 1 FROM notes WHERE area = 'admin-token'`)).toEqual([]);
  });

  it('begins a new incarnation above the one before, in which the store goes on (I1, I2)', async () => {
    const url = await empty();
    await restore(url, lines);
    const { store } = await start(url);
    const [before, after] = [await source.store.head(), await store.head()];
    expect(after.incarnation).not.toBe(before.incarnation);
    expect(after.revision).toBeGreaterThan(before.revision);
    expect((await held(store, kept)).origin.incarnation).toBe(after.incarnation);
    expect((await held(store, copied)).origin.incarnation).toBe('incarnation-1');
    // An address is taken, a deleted identity goes on from its generation and remembers its address.
    const other = freshId('MeshService');
    await write(store, put(other), put(gone));
    const taken = { type: 'patch', id: other, expect: 'any', vip: '241.0.0.6' } as const;
    expect((await store.write({ changes: [taken], onRefusal: 'skip' })).results).toMatchObject([
      { refusal: 'vip-taken' },
    ]);
    expect(await held(store, gone)).toMatchObject({ generation: 2, freed: [{ ip: '241.0.0.7' }] });
    expect((await held(store, other)).creationOrder).toBeGreaterThan((await held(store, kept)).creationOrder);
  });

  it('is of one revision, whatever is written meanwhile', async () => {
    const writer = new BackupWriter();
    const names: string[] = [];
    const later = freshId();
    await source.backup.export(ALL, {
      facts: async () => void (await write(source.store, put(later))),
      rows: async ({ table, rows }) => void names.push(...rows.map((row) => writer.record(table, row))),
    });
    expect(names.filter((line) => line.includes(later.name))).toEqual([]);
    await write(source.store, { type: 'delete', id: later, expect: 'any' });
  });

  it('leaves out secrets unless they are asked for', async () => {
    const text = (await backupOf(source, { ...ALL, secrets: false })).join('\n');
    expect(text).not.toMatch(/pointKey|cGVhcg|"keys"/);
    expect(text).toContain(kept.name);
    const url = await empty();
    expect(await restore(url, text.split('\n'))).toMatchObject({ ok: true, result: { resources: 2 } });
    const [[here], [there]] = [
      await query(url, 'SELECT key FROM point_key'),
      await query(sourceUrl, 'SELECT key FROM point_key'),
    ];
    expect(here).not.toEqual(there);
  });

  it('changes nothing where it is cut, for another zone, or only tried, and is restored by the next run', async () => {
    const url = await empty();
    expect(await restore(url, lines.slice(0, -1))).toMatchObject({ ok: false, problems: [{ reason: /has no end/ }] });
    const other = lines.map((line) => line.replace('"zone":"east"', '"zone":"west"'));
    expect(await restore(url, other)).toMatchObject({ ok: false, problems: [{ line: 1, reason: /of zone "west"/ }] });
    expect(await restore(url, lines, { dryRun: true })).toMatchObject({ ok: true, result: { resources: 3 } });
    expect(await query(url, 'SELECT 1 FROM resources')).toEqual([]);
    expect(await query(url, 'SELECT revision FROM store_head')).toEqual([{ revision: '0' }]);
    const stop = new AbortController();
    const halfway = async function* (): AsyncGenerator<string> {
      yield* lines.slice(0, 3);
      stop.abort(new Error('killed'));
      yield* lines.slice(3);
    };
    const options = { url, logger: silentLogger, owner: EAST, dryRun: false, signal: stop.signal };
    await expect(restoreBackup(halfway(), options)).rejects.toThrow('killed');
    expect(await query(url, 'SELECT 1 FROM resources')).toEqual([]);
    expect(await restore(url, lines)).toMatchObject({ ok: true });
  });

  it('names the rows that the database refuses', async () => {
    const writer = new BackupWriter();
    const text =
      writer.header(headerOf(2)) +
      ['a', 'b'].map((name) => writer.record('resources', rowOf(name))).join('') +
      writer.end();
    const restored = await restore(await empty(), text.trimEnd().split('\n'));
    expect(restored).toMatchObject({
      ok: false,
      problems: [{ line: 2, reason: /^resources, lines 2 to 3: .*resources_revision/ }],
    });
  });

  it('is restored into an empty database only', async () => {
    await expect(restore(sourceUrl, lines)).rejects.toThrow('the database is not empty: it is of zone "east"');
    const url = await empty();
    const backend = await start(url);
    await expect(restore(url, lines)).rejects.toThrow('a control plane starts on it');
    await write(backend.store, put(freshId()));
    await expect(restore(url, lines)).rejects.toThrow('it holds resources');
  });

  const headerOf = (resources: number): Parameters<BackupWriter['header']>[0] => ({
    version: BACKUP_VERSION,
    program: 'test',
    takenAt: 0,
    secrets: false,
    owner: { ...EAST, storeId: 's' },
    head: { incarnation: 'i', revision: 5, floor: 0, creationOrder: 0, epoch: 0, sessionFloor: 0 },
    counts: { resources, notes: 0, zone_sessions: 0, agent_leases: 0 },
  });

  const rowOf = (name: string): string =>
    JSON.stringify({
      kind: 'Thing',
      mesh: 'default',
      zone: 'east',
      namespace: 'default',
      name,
      uid: name,
      labels: {},
      spec: {},
      generation: 1,
      creation_order: 1,
      created_at: 1,
      modified_at: 1,
      revision: 5,
      origin_revision: 5,
      origin_committed_at: 1,
      freed: [],
    });
});
