import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from './failure.mjs';
import { startPostgres } from './embedded-postgres.mjs';
import { freePort } from './ports.mjs';
import { hasRedisServer, installRedisServer, startRedis } from './redis.mjs';

export const NO_REDIS =
  'no Redis: the tests of the Redis lock are left out (set REDIS_URL, put redis-server on the PATH, or let CAUSEWAY_TEST_INSTALL=1 install it)';

/**
 * Starts what tests need and names it in the environment, where test/support reads it:
 * `CAUSEWAY_TEST_DATABASE_URL` (a superuser's URL) and `CAUSEWAY_TEST_REDIS_URL` (unset where there is no Redis).
 * Services that the environment names already are used as they are. Tests need no durable Postgres; benchmarks ask for one (fsync on).
 * Returns the function that stops what this started.
 */
export async function startTestServices(env = process.env, { durable = false } = {}) {
  const stops = [];
  const stop = async () => {
    await Promise.all(stops.splice(0).map((each) => each()));
  };
  try {
    if (!env.CAUSEWAY_TEST_DATABASE_URL) stops.push(await startTestPostgres(env, durable));
    if (!env.CAUSEWAY_TEST_REDIS_URL) stops.push(await startTestRedis(env));
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

async function startTestPostgres(env, durable) {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-test-'));
  chmodSync(folder, 0o755);
  const postgres = await startPostgres({ folder, port: await freePort(), durable });
  env.CAUSEWAY_TEST_DATABASE_URL = postgres.url('postgres');
  return async () => {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}

async function startTestRedis(env) {
  if (env.REDIS_URL) {
    env.CAUSEWAY_TEST_REDIS_URL = env.REDIS_URL;
    return async () => {};
  }
  const present = hasRedisServer() || (env.CAUSEWAY_TEST_INSTALL === '1' && installRedisServer());
  if (present) {
    const redis = await startRedis();
    env.CAUSEWAY_TEST_REDIS_URL = redis.url;
    return redis.stop;
  }
  if (env.CI)
    throw new Failure('no Redis: in CI its tests are never left out, so set REDIS_URL or CAUSEWAY_TEST_INSTALL=1');
  console.error(NO_REDIS);
  return async () => {};
}
