import { join } from 'node:path';
import { diskFull } from '../lib/disk-failure.mjs';
import { removePostgresData, startPostgres } from '../lib/embedded-postgres.mjs';
import { freePort, isPortFree } from '../lib/ports.mjs';
import { hasRedisServer, startRedis } from '../lib/redis.mjs';
import { STAGES } from './parts.mjs';
import { provideRedisAccess } from './redis-access.mjs';

/** The Postgres server of this run: DATABASE_URL's, else the embedded one as a part. Gives `{ url, description }`. */
export async function providePostgres(settings, parts, say) {
  if (settings.databaseUrl) return { url: settings.databaseUrl, description: 'the server of DATABASE_URL' };
  const folder = join(settings.dataDir, 'postgres');
  const onWait = () => say('waiting for the Postgres of an earlier start to end');
  if (settings.fresh) await removePostgresData(folder, { onWait });
  const port = await postgresPort(settings);
  const launch = async () => {
    const server = await startPostgres({ folder, port, onWait });
    return { ...server, ended: server.ended.then((log) => postgresEnd(log, settings)) };
  };
  const { url, home } = await parts.start('postgres', launch, { stage: STAGES.stores });
  return { url: url('postgres'), description: `embedded, port ${port}, data in ${home}` };
}

/** Why it ended, where its log says so. */
function postgresEnd(log, { dataDir }) {
  const full = diskFull(log, { folder: dataDir, doing: 'Postgres ended' });
  if (full) return `(${full.message})`;
  const [how, ...lines] = log.split('\n');
  // Each connection says that the server ended; why stands before.
  const why = lines.filter((line) => /FATAL|PANIC/.test(line) && !line.includes('unexpected postmaster exit'));
  return [how, ...why.slice(-5)].join('\n  ');
}

/** A configured port must be free; if a default port is taken, another one is used. */
async function postgresPort({ postgresPort: wanted, preferredPostgresPort }) {
  if (wanted !== undefined) return wanted;
  return (await isPortFree(preferredPostgresPort)) ? preferredPostgresPort : freePort();
}

/** Returns how replicas agree on a leader: `{ env, description }`. Redis if there is one, ours as a part; else the lease in Postgres. */
export async function provideLeaderLock({ redisUrl, leaderBackend, dataDir }, parts) {
  if (leaderBackend === 'postgres') return { env: {}, description: 'a lease in Postgres (CAUSEWAY_LEADER_BACKEND)' };
  if (redisUrl) return { env: { REDIS_URL: redisUrl }, description: 'Redis of REDIS_URL' };
  if (!hasRedisServer())
    return { env: {}, description: 'a lease in Postgres (no REDIS_URL, no redis-server on the PATH)' };
  const port = await freePort();
  const { configFile, urlFile } = provideRedisAccess(dataDir, port);
  await parts.start('redis', () => startRedis({ port, configFile }), { stage: STAGES.stores });
  return { env: { REDIS_URL_FILE: urlFile }, description: `Redis (redis-server on the PATH, port ${port})` };
}
