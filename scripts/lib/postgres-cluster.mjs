import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { diskFailure, diskFull, requireFreeSpace } from './disk-failure.mjs';
import { Failure } from './failure.mjs';
import { plainEnvironment } from './postgres-account.mjs';
import { makePrivateFolder } from './postgres-home.mjs';
import {
  keepPassword,
  newPassword,
  POSTGRES_USER,
  readPassword,
  replacePassword,
  writePrivateFile,
} from './postgres-password.mjs';
import { waitFor } from './wait.mjs';

const MAKING = 'Postgres makes its data folder';
const STARTING = 'Postgres starts';
/** Size of a new cluster with three small databases, its write-ahead log included. */
const CLUSTER_BYTES = 150_000_000;
/** Space that a server needs to start and to recover: one segment of its write-ahead log, and a little. */
const START_BYTES = 20_000_000;

const FIRST_WITH_BUILTIN_LOCALE = 17;
const FIRST_WITH_ITERATIONS = 16;

/** For tests: each connection costs its client milliseconds of hashing, and the password, which is drawn, is as good with one round as with 4,096. */
const QUICK_PASSWORD = ['-c', 'scram_iterations=1'];
const BUILTIN_LOCALE = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

/**
 * Makes the data folder where there is none, and gives the password of what is in it: drawn once, with the data. A cluster
 * of an earlier version gets one of its own before anybody can connect to it.
 */
export function provideCluster(cluster) {
  const { dataDir } = cluster;
  const present = existsSync(join(dataDir, 'PG_VERSION'));
  const doing = present ? STARTING : MAKING;
  requireFreeSpace(dirname(dataDir), { doing, neededBytes: present ? START_BYTES : CLUSTER_BYTES });
  const known = present ? readPassword(dataDir) : undefined;
  if (known !== undefined) return known;
  const password = newPassword();
  if (!present) {
    initialiseCluster(cluster, password);
    return password;
  }
  const failure = replacePassword(cluster, password);
  if (failure !== undefined) throw startFailure(failure, dataDir);
  keepPassword(cluster, password);
  return password;
}

/** Under another name first, so that a start that was cut short leaves no half of a data folder. */
function initialiseCluster({ bin, dataDir, account, durable = true }, password) {
  if (existsSync(dataDir)) throw brokenFolder(dataDir, 'it holds no PG_VERSION');
  const partial = `${dataDir}.${process.pid}`;
  const passwordFile = `${dataDir}.${process.pid}.password`;
  try {
    makePrivateFolder(partial, account);
    writePrivateFile(passwordFile, account, password);
    runInitdb({ bin, dataDir: partial, passwordFile, account, durable });
    keepPassword({ dataDir: partial, account }, password);
    renameSync(partial, dataDir);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(partial, { recursive: true, force: true });
  }
}

/** The version of these programs, such as 18. */
function majorOf(bin) {
  const { stdout } = spawnSync(join(bin, 'initdb'), ['--version'], { cwd: '/', encoding: 'utf8' });
  return Number(/\(PostgreSQL\) (\d+)/.exec(stdout ?? '')?.[1] ?? FIRST_WITH_BUILTIN_LOCALE);
}

function runInitdb({ bin, dataDir, passwordFile, account, durable }) {
  const major = majorOf(bin);
  const locale = ['--encoding=UTF8', '--locale=C', ...(major < FIRST_WITH_BUILTIN_LOCALE ? [] : BUILTIN_LOCALE)];
  const quick = durable || major < FIRST_WITH_ITERATIONS ? [] : QUICK_PASSWORD;
  const access = ['-U', POSTGRES_USER, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  const { status, stderr, error } = spawnSync(
    join(bin, 'initdb'),
    ['-D', dataDir, '--no-sync', ...access, ...locale, ...quick],
    {
      ...account,
      env: plainEnvironment(),
      cwd: '/',
      encoding: 'utf8',
    },
  );
  if (status === 0) return;
  const words = stderr || String(error);
  const full = diskFailure(words, { folder: dirname(dataDir), doing: MAKING, neededBytes: CLUSTER_BYTES });
  throw full ?? new Failure(`Postgres could not make its data folder: ${lastLine(words)}`);
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

/** The error for a server that logged this instead of starting. */
export function startFailure(words, dataDir) {
  const line = words.split('\n').find((each) => /FATAL|PANIC/.test(each)) ?? lastLine(words);
  const reason = line.replace(/^.*(?:ERROR|FATAL|PANIC):\s*/, '');
  return (
    diskFull(words, { folder: dataDir, doing: STARTING, neededBytes: START_BYTES }) ?? brokenFolder(dataDir, reason)
  );
}

/** The error for a folder that Postgres cannot start from. */
function brokenFolder(dataDir, reason) {
  return new Failure(
    `the data folder ${dataDir} is broken (${reason}): \`npm start -- --fresh\` begins anew and drops what it holds`,
  );
}

function lastLine(text) {
  return text.trim().split('\n').at(-1) ?? '';
}

/** The process of the server that serves from this folder, undefined when none does. */
export function serverPid(dataDir) {
  const lock = readLock(dataDir);
  return lock && isPostgres(lock.pid) ? lock.pid : undefined;
}

/** Parses `postmaster.pid`: its lines are pid, folder, start time, port, socket folder, address, shared memory, status. */
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
