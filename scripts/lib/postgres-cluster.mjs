import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.mjs';
import { makePrivateFolder } from './postgres-home.mjs';
import { waitFor } from './wait.mjs';

export const POSTGRES_USER = 'causeway';
export const POSTGRES_PASSWORD = 'causeway';

/** An environment in which a language setting that the machine does not have cannot break Postgres. */
export function plainEnvironment() {
  return { ...process.env, LC_ALL: 'C', LANG: 'C', LANGUAGE: '' };
}

/** Makes the data folder where there is none: under another name first, so that a start that was cut short leaves no half of one. */
export function initialiseCluster({ bin, dataDir, account }) {
  if (existsSync(join(dataDir, 'PG_VERSION'))) return;
  if (existsSync(dataDir)) throw brokenFolder(dataDir, 'it holds no PG_VERSION');
  const partial = `${dataDir}.${process.pid}`;
  const passwordFile = `${dataDir}.${process.pid}.password`;
  makePrivateFolder(partial, account);
  writeFileSync(passwordFile, POSTGRES_PASSWORD, { mode: 0o600 });
  if (account.uid !== undefined) chownSync(passwordFile, account.uid, account.gid);
  try {
    runInitdb({ bin, dataDir: partial, passwordFile, account });
    renameSync(partial, dataDir);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(partial, { recursive: true, force: true });
  }
}

function runInitdb({ bin, dataDir, passwordFile, account }) {
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const access = ['-U', POSTGRES_USER, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  const { status, stderr, error } = spawnSync(join(bin, 'initdb'), ['-D', dataDir, '--no-sync', ...access, ...locale], {
    ...account,
    env: plainEnvironment(),
    cwd: '/',
    encoding: 'utf8',
  });
  if (status !== 0) throw new Failure(`Postgres could not make its data folder: ${lastLine(stderr ?? String(error))}`);
}

/**
 * Waits for the Postgres of an earlier start that is still ending in this folder.
 * One that goes on serving belongs to somebody: that is a Failure.
 */
export async function awaitEarlierPostgres(dataDir, { onWait = () => {}, timeoutMs = 30_000 } = {}) {
  const first = readLock(dataDir);
  if (!first) return;
  if (!isPostgres(first.pid)) return rmSync(join(dataDir, 'postmaster.pid'), { force: true });
  onWait(first.pid);
  const servingSince = Date.now();
  const ended = await waitFor(
    () => {
      const lock = readLock(dataDir);
      if (!lock || !isPostgres(lock.pid)) return 'ended';
      return lock.status === 'ready' && Date.now() - servingSince > 5_000 ? 'serving' : undefined;
    },
    { timeoutMs },
  );
  if (ended === 'ended') return;
  throw new Failure(
    `another start is using ${dataDir} (Postgres, process ${first.pid}): stop it, or set CAUSEWAY_DATA_DIR to another folder`,
  );
}

/** The error for a folder that Postgres cannot start from. */
export function brokenFolder(dataDir, reason) {
  return new Failure(
    `the data folder ${dataDir} is broken (${reason}): \`npm start -- --fresh\` begins anew and drops what it holds`,
  );
}

export function lastLine(text) {
  return text.trim().split('\n').at(-1) ?? '';
}

/** The process of the server that serves from this folder, undefined when none does. */
export function serverPid(dataDir) {
  const lock = readLock(dataDir);
  return lock && isPostgres(lock.pid) ? lock.pid : undefined;
}

/** What `postmaster.pid` says: its lines are pid, folder, start time, port, socket folder, address, shared memory, status. */
function readLock(dataDir) {
  try {
    const lines = readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), status: (lines[7] ?? '').trim() };
  } catch {
    return undefined;
  }
}

/** After a crash or a reboot the number in the lock may be another program's by now. */
function isPostgres(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  const { status, stdout } = spawnSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' });
  if (status === null) return existsSync(`/proc/${pid}`) && statSync(`/proc/${pid}`).isDirectory();
  return status === 0 && stdout.includes('postgres');
}
