import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { canEnter, postgresAccount } from './postgres-account.mjs';

const OPEN_ROOT = '/var/lib/causeway';

/**
 * Folders of Postgres and the account that it runs as: `{ home, dataDir, account, copyRoot }`.
 * Normally `folder` itself. When we are root and the account that Postgres runs as cannot enter it (a clone in root's home),
 * a folder of its own under /var/lib/causeway; `folder/postgres-is-in` then says where.
 */
export function postgresHome(folder) {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const wanted = resolve(folder);
  const account = postgresAccount(join(wanted, 'data'));
  if (canEnter(wanted, account)) return placed(wanted, account);
  const home = homeElsewhere(join(wanted, 'postgres-is-in'));
  return placed(home, postgresAccount(join(home, 'data')));
}

function placed(home, account) {
  return { home, dataDir: join(home, 'data'), account, copyRoot: OPEN_ROOT };
}

/** Its name is random: a clone made anew at the path of a deleted one must not find that one's data. */
function homeElsewhere(pointer) {
  const known = readPointer(pointer);
  if (known) return known;
  mkdirSync(OPEN_ROOT, { recursive: true, mode: 0o755 });
  const home = mkdtempSync(join(OPEN_ROOT, 'data-'));
  chmodSync(home, 0o755);
  writeFileSync(pointer, `${home}\n`);
  return home;
}

function readPointer(pointer) {
  try {
    const home = readFileSync(pointer, 'utf8').trim();
    mkdirSync(home, { recursive: true, mode: 0o755 });
    return home;
  } catch {
    return undefined;
  }
}

/** Makes a folder that only this account can read. */
export function makePrivateFolder(folder, { uid, gid }) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (uid !== undefined) chownSync(folder, uid, gid);
}
