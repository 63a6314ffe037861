import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { plainEnvironment } from './postgres-account.mjs';

/** The only account of the embedded Postgres. */
export const POSTGRES_USER = 'causeway';

/** Hard to guess, and nothing in it needs quoting in SQL or a URL. */
export function newPassword() {
  return randomBytes(24).toString('hex');
}

/** The password that was kept with a cluster; undefined where an earlier version made it, with a password that everybody could know. */
export function readPassword(dataDir) {
  const file = passwordFile(dataDir);
  const password = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  return password === '' ? undefined : password;
}

/** Keeps it in the data folder, which is closed to other accounts; never half a file. */
export function keepPassword({ dataDir, account }, password) {
  const file = passwordFile(dataDir);
  writePrivateFile(`${file}.new`, account, password);
  renameSync(`${file}.new`, file);
}

/** Writes a file that only this account can read. */
export function writePrivateFile(file, { uid, gid }, content) {
  writeFileSync(file, `${content}\n`, { mode: 0o600 });
  if (uid !== undefined) chownSync(file, uid, gid);
}

/**
 * Gives a cluster that nobody serves another password: in single-user mode no port is open, and the old one need not be
 * known. What went wrong, undefined when nothing did.
 */
export function replacePassword({ bin, dataDir, account }, password) {
  const { status, stderr, error } = spawnSync(join(bin, 'postgres'), ['--single', '-D', dataDir, 'postgres'], {
    ...account,
    env: plainEnvironment(),
    cwd: '/',
    encoding: 'utf8',
    input: `ALTER ROLE ${POSTGRES_USER} PASSWORD '${password}'\n`,
  });
  const failure = error?.message ?? /(?:ERROR|FATAL|PANIC):.*/.exec(stderr)?.[0];
  return failure ?? (status === 0 ? undefined : `postgres --single ended with ${status}`);
}

function passwordFile(dataDir) {
  return join(dataDir, 'causeway.password');
}
