import { join } from 'node:path';
import { removePostgresData, startPostgres } from '../lib/embedded-postgres.mjs';
import { freePort, isPortFree } from '../lib/ports.mjs';
import { hasRedisServer, startRedis } from '../lib/redis.mjs';

/**
 * The Postgres server of this run: DATABASE_URL's, else the embedded one.
 * Gives `{ url, description, ended, stop() }`; `ended` resolves with its last words when it ends unasked.
 */
export async function providePostgres(settings, say) {
  if (settings.databaseUrl) {
    const never = new Promise(() => {});
    return { url: settings.databaseUrl, description: 'the server of DATABASE_URL', ended: never, stop: async () => {} };
  }
  const folder = join(settings.dataDir, 'postgres');
  const onWait = () => say('waiting for the Postgres of an earlier start to end');
  if (settings.fresh) await removePostgresData(folder, { onWait });
  const postgres = await startPostgres({ folder, port: await postgresPort(settings), onWait });
  return {
    ...postgres,
    url: postgres.url('postgres'),
    description: `embedded, port ${postgres.port}, data in ${postgres.home}`,
  };
}

/** A configured port must be free; if a default port is taken, another one is used. */
async function postgresPort({ postgresPort: wanted, preferredPostgresPort }) {
  if (wanted !== undefined) return wanted;
  return (await isPortFree(preferredPostgresPort)) ? preferredPostgresPort : freePort();
}

/** How replicas agree on a leader: `{ env, description, stop() }`. Redis where there is one, else the lease in Postgres. */
export async function provideLeaderLock({ redisUrl, leaderBackend }) {
  const nothing = async () => {};
  if (leaderBackend === 'postgres') {
    return { env: {}, description: 'a lease in Postgres (CAUSEWAY_LEADER_BACKEND)', stop: nothing };
  }
  if (redisUrl) return { env: { REDIS_URL: redisUrl }, description: 'Redis of REDIS_URL', stop: nothing };
  if (hasRedisServer()) {
    const { url, port, stop } = await startRedis();
    return { env: { REDIS_URL: url }, description: `Redis (redis-server on the PATH, port ${port})`, stop };
  }
  return { env: {}, description: 'a lease in Postgres (no REDIS_URL, no redis-server on the PATH)', stop: nothing };
}
