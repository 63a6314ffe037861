import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { basename, join } from 'node:path';
import { EventLoopLeaseKeeper, silentLogger, systemClock, type KeptLease, type LeaseKeeper } from '@causeway/runtime';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/postgres';
import { until } from '../../../../test/support/until';
import type { PostgresBackend } from '../postgres-backend';
import { createPostgresBackend } from '../../testing/connected-backend';

/** Longer than a pause of a busy machine. */
const LEASE = 2_500;
const STALL = 5_000;

const KEEPERS: readonly (readonly [string, (backend: PostgresBackend) => LeaseKeeper])[] = [
  ['on the event loop', ({ lease }) => new EventLoopLeaseKeeper({ lease, clock: systemClock, logger: silentLogger })],
  ['by a thread', (backend) => backend.leaseKeeper(STALL)],
];

let database: TestDatabase;
let backend: PostgresBackend;
let admin: Client;
let losses: number;
const kept: KeptLease[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  backend = await createPostgresBackend({ url: database.url, poolSize: 3 });
  admin = new Client({ connectionString: database.url });
  await admin.connect();
});
afterEach(() => Promise.all(kept.splice(0).map((one) => one.end())));
afterAll(async () => {
  await admin.end();
  await backend.close();
  await database.drop();
});

/** Takes the next epoch over and has its lease kept. */
async function lead(keeper: LeaseKeeper): Promise<{ epoch: number; holder: string; one: KeptLease }> {
  const before = await backend.lease.readEpoch();
  await backend.lease.release(before.epoch, before.holder);
  const holder = randomUUID();
  const epoch = (await backend.lease.takeOver(before.epoch, holder, LEASE)) ?? 0;
  losses = 0;
  const one = await keeper.keep({ epoch, holder, leaseMs: LEASE, onLost: () => void losses++ });
  if (!one) throw new Error('it was taken over a moment ago');
  kept.push(one);
  return { epoch, holder, one };
}

function remaining(): Promise<number> {
  return backend.lease.readEpoch().then((leader) => leader.remaining);
}

/** Holds the event loop as a quadratic computation does. */
function hold(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe.each(KEEPERS)('a lease that is kept %s', (_, keeperOf) => {
  it('stands as long as it is kept, and runs out when it is not', async () => {
    const { one } = await lead(keeperOf(backend));
    for (const end = performance.now() + 1.5 * LEASE; performance.now() < end; await systemClock.sleep(50)) {
      expect(await remaining()).toBeGreaterThan(0);
    }
    expect(one.age()).toBeLessThan(LEASE);
    expect(one.lost()).toBeUndefined();
    await one.end();
    await until('it has run out', async () => (await remaining()) === 0);
    expect(losses).toBe(0);
  });

  it('is not kept where another epoch stands', async () => {
    const { epoch, holder } = await lead(keeperOf(backend));
    const request = { epoch: epoch - 1, holder, leaseMs: LEASE, onLost: () => undefined };
    expect(await keeperOf(backend).keep(request)).toBeUndefined();
  });

  it('is lost when it is released, and reports why', async () => {
    const { epoch, holder, one } = await lead(keeperOf(backend));
    await backend.lease.release(epoch, holder);
    await until('it is lost', () => losses > 0);
    expect(one.lost()).toBe('another leader has taken over');
    expect(await remaining()).toBe(0);
  });
});

it('has a thread that loads the driver and nothing of the engine', () => {
  // Node 20 aborts the process where a thread is ended while it links a module of ECMAScript, as the engine's schemas are.
  const register = join(__dirname, '../../../../bench/register.cjs');
  const script = `try { require(${JSON.stringify(join(__dirname, 'lease-worker.ts'))}); } catch {}
    console.log(JSON.stringify(Object.keys(require.cache)));`;
  const loaded: unknown = JSON.parse(
    // Not what a test run preloads into all programs.
    execFileSync(process.execPath, ['-r', register, '-e', script], {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    }),
  );
  if (!Array.isArray(loaded)) throw new Error('no list of files');
  const own = loaded.filter((file) => !String(file).includes('/node_modules/')).map((file) => basename(String(file)));
  expect(own.sort()).toEqual([
    'database-servers.ts',
    'lease-heartbeat.ts',
    'lease-statements.ts',
    'register.cjs',
    'server-addresses.ts',
  ]);
});

describe('a lease that a thread keeps', () => {
  const inWorker = async (): ReturnType<typeof lead> => {
    const mine = await lead(backend.leaseKeeper(STALL));
    await until('the thread is up', () => mine.one.inWorker());
    return mine;
  };

  it('outlives an event loop that is held for longer than the lease', async () => {
    const { epoch, one } = await inWorker();
    hold(1.5 * LEASE);
    expect(one.lost()).toBeUndefined();
    expect(one.age()).toBeLessThan(LEASE);
    expect(await backend.lease.readEpoch()).toMatchObject({ epoch, remaining: expect.any(Number) });
    expect(await remaining()).toBeGreaterThan(0);
  });

  it('is released when the loop has stood still for too long, and that is seen before anything is awaited', async () => {
    const { one } = await inWorker();
    hold(STALL + LEASE / 2);
    expect(one.lost()).toMatch(/stood still for more than 5000 ms/);
    expect(await remaining()).toBe(0);
    await until('the loss is reported', () => losses > 0);
  });

  it('is renewed on the event loop while the thread has no connection, and by the thread again afterwards', async () => {
    const { one } = await inWorker();
    const { rowCount } = await admin.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'causeway lease worker' AND datname = current_database()",
    );
    expect(rowCount).toBe(1);
    for (const end = performance.now() + 1.5 * LEASE; performance.now() < end; await systemClock.sleep(50)) {
      expect(await remaining()).toBeGreaterThan(0);
    }
    await until('the thread is back', () => one.inWorker());
    expect([one.lost(), losses]).toEqual([undefined, 0]);
  });
});
