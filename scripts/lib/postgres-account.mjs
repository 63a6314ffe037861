import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { Failure } from './failure.mjs';

const isRoot = process.getuid?.() === 0;

/**
 * The account Postgres runs as: `{}` for "me", `{ uid, gid }` when we are root, which Postgres refuses.
 * Data that exist keep their owner; otherwise it is `postgres` where the machine has that account, else `nobody`.
 */
export function postgresAccount(dataDir) {
  if (!isRoot) return {};
  if (existsSync(dataDir)) {
    const { uid, gid } = statSync(dataDir);
    if (uid !== 0) return { uid, gid };
  }
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = [idOf('-u', name), idOf('-g', name)];
    if (uid > 0) return { uid, gid };
  }
  throw new Failure(
    'Postgres refuses to run as root: run this as another user, or set DATABASE_URL to a server of yours',
  );
}

/** An environment in which a language setting that the machine does not have cannot break Postgres. */
export function plainEnvironment() {
  return { ...process.env, LC_ALL: 'C', LANG: 'C', LANGUAGE: '' };
}

/** Whether this account can run that program (its folders may be closed to it, its libraries missing). */
export function canRun(program, account) {
  return spawnSync(program, ['--version'], { ...account, cwd: '/', stdio: 'ignore' }).status === 0;
}

/** Whether this account can enter that folder. */
export function canEnter(folder, account) {
  if (account.uid === undefined) return true;
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...account, cwd: '/', stdio: 'ignore' }).status === 0;
}

function idOf(flag, name) {
  const { status, stdout } = spawnSync('id', [flag, name], { encoding: 'utf8' });
  return status === 0 ? Number(stdout) : 0;
}
