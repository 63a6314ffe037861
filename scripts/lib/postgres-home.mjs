import { createHash } from 'node:crypto';
import { chownSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { canEnter, postgresAccount } from './postgres-account.mjs';

const OPEN_ROOT = '/var/lib/causeway';

/**
 * Where Postgres keeps its files and as whom it runs: `{ home, dataDir, account, copyRoot }`.
 * Normally `folder` itself. When we are root and the account that Postgres runs as cannot enter it (a clone in root's home),
 * a folder of its own under /var/lib/causeway; `folder/postgres-is-in` then says where.
 */
export function postgresHome(folder) {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const wanted = resolve(folder);
  const account = postgresAccount(join(wanted, 'data'));
  if (canEnter(wanted, account)) return { home: wanted, dataDir: join(wanted, 'data'), account, copyRoot: OPEN_ROOT };

  const home = join(OPEN_ROOT, createHash('sha256').update(realpathSync(wanted)).digest('hex').slice(0, 12));
  mkdirSync(home, { recursive: true, mode: 0o755 });
  writeFileSync(join(wanted, 'postgres-is-in'), `${home}\n`);
  return { home, dataDir: join(home, 'data'), account: postgresAccount(join(home, 'data')), copyRoot: OPEN_ROOT };
}

/** Makes a folder that only this account can read. */
export function makePrivateFolder(folder, { uid, gid }) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (uid !== undefined) chownSync(folder, uid, gid);
}
