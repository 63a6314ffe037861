import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { migrations, neededStep, stepNumber } from '@causeway/migrations';
import { Unavailable } from '@causeway/resources';
import { silentLogger, systemClock, type Logger } from '@causeway/runtime';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres';
import { freshId, put, write } from '@causeway/store/testing';
import type { PostgresBackend, PostgresOptions } from './postgres-backend';
import { createPostgresBackend } from '../testing/connected-backend';

describe('the start of a store', () => {
  let database: TestDatabase;
  const open: PostgresBackend[] = [];

  /** A backend that is closed after the test, also when that fails. */
  async function start(options: PostgresOptions): Promise<PostgresBackend> {
    const backend = await createPostgresBackend(options);
    open.push(backend);
    return backend;
  }
  beforeEach(async () => void (database = await createTestDatabase()));
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
    await database.drop();
  });

  async function query(statement: string): Promise<unknown[]> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query<Record<string, unknown>>(statement);
    await client.end();
    return rows;
  }

  it('migrates once when several replicas start together, and not again later', async () => {
    const lines: string[] = [];
    const logger: Logger = { ...silentLogger, info: (message) => void lines.push(message) };
    const replicas = await Promise.all(Array.from({ length: 4 }, () => start({ url: database.url, logger })));
    expect(lines).toEqual(['database migrated']);
    await Promise.all(replicas.map((one, n) => write(one.store, put(freshId(), { n }))));
    await Promise.all(replicas.map((one) => one.close()));
    const later = await start({ url: database.url, logger });
    expect(lines).toHaveLength(1);
    await later.close();
  });

  it('warns where Postgres is set to lose what it has confirmed', async () => {
    const warnings: unknown[] = [];
    const logger: Logger = { ...silentLogger, warn: (_, fields) => void warnings.push(fields) };
    const name = new URL(database.url).pathname.slice(1);
    for (const commit of ['off', 'on']) {
      await query(`ALTER DATABASE ${name} SET synchronous_commit = ${commit}`);
      await start({ url: database.url, logger });
    }
    // The server of the tests does not wait for its disk.
    expect(warnings).toEqual([{ settings: 'fsync = off, synchronous_commit = off' }, { settings: 'fsync = off' }]);
  });

  it('refuses a database that a later version has migrated, or continues where that is tolerated', async () => {
    await (await start({ url: database.url })).close();
    await query(`INSERT INTO migrations (timestamp, name) VALUES (9999999999999, 'Future9999999999999')`);
    const refused: unknown = await start({ url: database.url }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Unavailable);
    expect(String(refused)).toContain('later version of this program (Future9999999999999)');
    const tolerant = await start({ url: database.url, tolerateNewer: true });
    await write(tolerant.store, put(freshId()));
    await tolerant.close();
  });

  it('works on a database that the next version has migrated, and refuses one of the version after that', async () => {
    const newest = Math.max(...migrations.map((Migration) => stepNumber(new Migration().name ?? '')));
    const [next, afterNext] = [newest + 1, newest + 2].map((step) => {
      const needed = String(step - 1).padStart(4, '0');
      return { timestamp: step, name: `Needs${needed}Future${String(step).padStart(13, '0')}` };
    });
    await (await start({ url: database.url })).close();
    await query(`INSERT INTO migrations (timestamp, name) VALUES (${next?.timestamp}, '${next?.name}')`);
    const warnings: string[] = [];
    const logger: Logger = { ...silentLogger, warn: (message) => void warnings.push(message) };
    const old = await start({ url: database.url, logger });
    await write(old.store, put(freshId()));
    expect(
      warnings.filter((line) => line.includes(`later version of this program (${next?.name}); continuing`)),
    ).toHaveLength(1);

    await query(`INSERT INTO migrations (timestamp, name) VALUES (${afterNext?.timestamp}, '${afterNext?.name}')`);
    await write(old.store, put(freshId()));
    await expect(start({ url: database.url })).rejects.toThrow('update the program one version at a time');
  });

  it('has steps that say from which step on a program bears them', () => {
    const names = migrations.map((Migration) => new Migration().name ?? '');
    const silent = names.filter((name) => neededStep(name) === undefined);
    // Those of the first version; later ones are named `NNNN-needs-MMMM-words.sql` (docs/guides/upgrade.md).
    expect(silent.map(stepNumber)).toEqual([1, 2, 3, 4, 5]);
    expect(names.filter((name) => (neededStep(name) ?? 0) >= stepNumber(name))).toEqual([]);
  });

  it('refuses a database of an unreleased version with one line that says what to do', async () => {
    await (await start({ url: database.url })).close();
    await query(`UPDATE migrations SET name = 'Tables0000000000001'`);
    for (const tolerateNewer of [false, true]) {
      const refused: unknown = await start({ url: database.url, tolerateNewer }).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(Unavailable);
      expect(String(refused)).toMatch(/^DatabaseRefused: [^\n]*`npm start -- --fresh`[^\n]*$/);
    }
  });

  it('waits for a database that is not there yet, and logs where and why', async () => {
    const proxy = new FlakyProxy(database.url);
    const port = await proxy.knownPort();
    const lines: string[] = [];
    const logger: Logger = {
      ...silentLogger,
      warn: (message) => {
        lines.push(message);
        void proxy.open();
      },
    };
    const url = new URL(database.url);
    url.port = String(port);
    const backend = await start({ url: url.href, logger });
    expect(lines[0]).toBe(
      `waiting for Postgres at 127.0.0.1:${port}${url.pathname}: connect ECONNREFUSED 127.0.0.1:${port}`,
    );
    expect(lines[0]).not.toContain(url.password + '@');
    await write(backend.store, put(freshId()));
    await backend.close();
    await proxy.close();
  });

  it('begins anew when the database goes away after it was found', async () => {
    // The first connection finds it, the second holds the lock of migrations, the third migrates where that is to be done.
    for (const [cutOff, how] of [
      [3, 'destroy'],
      [2, 'destroy'],
      [2, 'say nothing'],
    ] as const) {
      const proxy = new FlakyProxy(database.url, cutOff, how);
      const url = new URL(database.url);
      url.port = String(await proxy.knownPort());
      await proxy.open();
      const lines: string[] = [];
      const logger: Logger = { ...silentLogger, warn: (message) => void lines.push(message) };
      const backend = await start({ url: url.href, logger });
      const tries = lines.filter((line) => line.includes('went away during the start, trying again'));
      expect(tries).toHaveLength(1);
      await write(backend.store, put(freshId()));
      await backend.close();
      await proxy.close();
    }
  });

  it('gives up with one line when the time is over, its signal aborts, or waiting cannot help', async () => {
    const nowhere = new URL(database.url);
    nowhere.port = '1';
    await expect(start({ url: nowhere.href, startTimeout: 1 })).rejects.toThrow(
      'gave up waiting for Postgres at 127.0.0.1:1',
    );
    await expect(start({ url: nowhere.href, signal: AbortSignal.abort() })).rejects.toThrow(Unavailable);
    const missing = new URL(database.url);
    missing.pathname = '/no_such_database';
    await expect(start({ url: missing.href })).rejects.toThrow('database "no_such_database" does not exist');
    const stranger = new URL(database.url);
    stranger.password = 'wrong';
    await expect(start({ url: stranger.href })).rejects.toThrow('password authentication failed');
  });

  it('works without the rights of a superuser', async () => {
    await query(`CREATE ROLE plain_${process.pid} LOGIN PASSWORD 'plain'`);
    await query(`GRANT ALL ON SCHEMA public TO plain_${process.pid}`);
    const url = new URL(database.url);
    [url.username, url.password] = [`plain_${process.pid}`, 'plain'];
    const backend = await start({ url: url.href, clock: systemClock });
    await write(backend.store, put(freshId()));
    expect(await query('SELECT server FROM store_head')).toEqual([
      { server: expect.stringMatching(/^(\d+|\?)\/[0-9A-F]{8}\/\d+$/) },
    ]);
    await backend.close();
    await query(`DROP OWNED BY plain_${process.pid}`);
    await query(`DROP ROLE plain_${process.pid}`);
  });
});

/** A port that leads to the database once it is opened, but for the connection numbered `cutOff`, counted from 1. */
class FlakyProxy {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private port = 0;
  private opened: Promise<void> | undefined;

  constructor(url: string, cutOff = 0, how: 'destroy' | 'say nothing' = 'destroy') {
    const { hostname, port } = new URL(url);
    let connections = 0;
    this.server = createServer((socket) => {
      if (++connections === cutOff) {
        if (how === 'destroy') socket.destroy();
        else this.sockets.add(socket);
        return;
      }
      const far = connect(Number(port), hostname);
      for (const one of [socket, far]) {
        this.sockets.add(one);
        one.on('error', () => undefined);
      }
      socket.pipe(far).pipe(socket);
    });
  }

  /** A port on which nothing listens yet. */
  async knownPort(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
    await new Promise((resolve) => this.server.close(resolve));
    return this.port;
  }

  open(): Promise<void> {
    this.opened ??= new Promise((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    return this.opened;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
