import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newPassword } from '../lib/postgres-password.mjs';
import { keep } from './zone-credentials.mjs';

/**
 * The files of the demo's own Redis: its settings, which hold its password, and its URL, by which the control planes read that.
 * Neither a command line nor an environment shows it.
 */
function redisFiles(dataDir) {
  return { configFile: join(dataDir, 'redis', 'redis.conf'), urlFile: join(dataDir, 'redis', 'redis-url') };
}

/** Keeps the password of the demo's Redis where only this account may read it, the one of earlier starts where there is one. */
export function provideRedisAccess(dataDir, port) {
  const { configFile, urlFile } = redisFiles(dataDir);
  mkdirSync(join(dataDir, 'redis'), { recursive: true, mode: 0o700 });
  const password = keptPassword(configFile) ?? newPassword();
  keep(configFile, `requirepass "${password}"\n`);
  keep(urlFile, `redis://:${password}@127.0.0.1:${port}\n`);
  return { configFile, urlFile };
}

function keptPassword(file) {
  const [, password] =
    /^requirepass "([0-9a-f]{32,})"$/m.exec(existsSync(file) ? readFileSync(file, 'utf8') : '') ?? [];
  return password;
}
