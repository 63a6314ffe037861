/**
 * A Redis for development, in the foreground, keeping nothing on disk: `node scripts/redis.mjs`.
 * It ends with Ctrl-C, SIGTERM, or the death of this process.
 */
import { Failure, runMain } from './lib/failure.mjs';
import { hasRedisServer, installRedisServer, startRedis } from './lib/redis.mjs';

await runMain(async () => {
  const mayInstall = process.env.CAUSEWAY_TEST_INSTALL === '1';
  if (!hasRedisServer() && !(mayInstall && installRedisServer())) {
    throw new Failure('there is no redis-server on the PATH: install it (apt-get install redis-server)');
  }
  const redis = await startRedis();
  console.log(redis.url);
  await new Promise((resolve) => ['SIGINT', 'SIGTERM'].forEach((name) => process.on(name, resolve)));
  await redis.stop();
});
