import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from './failure.mjs';
import { endText, spawnGuarded } from './guarded.mjs';
import { plainEnvironment } from './postgres-account.mjs';
import { postgresBinaries } from './postgres-binaries.mjs';
import {
  awaitEarlierPostgres,
  startFailure as clusterFailure,
  provideCluster,
  serverPid,
} from './postgres-cluster.mjs';
import { postgresHome } from './postgres-home.mjs';
import { POSTGRES_USER } from './postgres-password.mjs';

const STOP_TIMEOUT_MS = 15_000;
/** Time for which the processes of a killed server may continue their work. */
const LEFT_OVER_TIMEOUT_MS = 30_000;

/**
 * Runs the Postgres that comes inside an npm package, its files in `folder`, listening on 127.0.0.1:`port`, until `stop()`
 * or the end of this process. `durable: false` is for tests: a crash of the machine may lose what it holds. `more`
 * are further settings of the server, by their names. `programs` is the folder of another Postgres to run instead.
 * Gives `{ url(database), port, pid, stop(), crash(), ended }`. `crash()` ends it at once, as a kill -9 does: the next start
 * in the folder recovers what was committed. `ended` resolves with how, and the last lines it wrote, when it stopped unasked.
 */
export async function startPostgres({ folder, port, durable = true, more = {}, programs, onWait }) {
  const { home, dataDir, account, copyRoot } = postgresHome(folder);
  const bin = programs ?? postgresBinaries(account, copyRoot);
  await awaitEarlierPostgres(dataDir, { onWait });
  const password = provideCluster({ bin, dataDir, account, durable });
  const args = [join(bin, 'postgres'), '-D', dataDir, ...settings(port, durable, more)];
  const { child, log } = await launchOnceFree({ args, account, dataDir, port });
  return { home, ...handle(child, { dataDir, port, log, password }) };
}

/** A server that was killed leaves processes behind that end a moment later, and no other may serve before. */
async function launchOnceFree(start) {
  const deadline = Date.now() + LEFT_OVER_TIMEOUT_MS;
  for (;;) {
    try {
      return await launch(start);
    } catch (error) {
      if (!(error instanceof FolderInUse) || Date.now() >= deadline) throw error;
      await delay(100);
    }
  }
}

async function launch({ args, account, dataDir, port }) {
  const child = spawnGuarded(args, {
    ...account,
    how: 'INT',
    env: plainEnvironment(),
    cwd: '/',
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  return { child, log: await untilReady(child, { dataDir, port }) };
}

/** Deletes everything that `startPostgres` keeps in this folder; not while a Postgres serves from it. */
export async function removePostgresData(folder, { onWait } = {}) {
  const { dataDir } = postgresHome(folder);
  await awaitEarlierPostgres(dataDir, { onWait });
  rmSync(dataDir, { recursive: true, force: true });
}

function settings(port, durable, more) {
  const all = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 300,
    log_min_messages: 'warning',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    ...more,
  };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Resolves with the function that gives the last lines of the log; rejects with one line when it ends before it is ready. */
function untilReady(child, { dataDir, port }) {
  let log = '';
  return new Promise((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text) => {
      log = (log + text).slice(-4_000);
      if (/ready to accept (read-only )?connections/.test(log)) resolve(() => log);
    });
    child.once('error', reject);
    child.once('close', () => reject(startFailure(log, { dataDir, port })));
  });
}

function startFailure(log, { dataDir, port }) {
  if (/could not bind|Address already in use/.test(log)) {
    return new Failure(`port ${port} is taken, Postgres needs it: set CAUSEWAY_POSTGRES_PORT to a free one`);
  }
  if (log.includes('pre-existing shared memory block')) return new FolderInUse(dataDir);
  return clusterFailure(log, dataDir);
}

class FolderInUse extends Failure {
  constructor(dataDir) {
    super(`processes of an earlier Postgres still use the data folder ${dataDir}: start again when they have ended`);
  }
}

function handle(child, { dataDir, port, log, password }) {
  let stopping = false;
  const closed = new Promise((resolve) => child.once('exit', resolve));
  return {
    port,
    pid: serverPid(dataDir),
    url: (database) => `postgres://${POSTGRES_USER}:${password}@127.0.0.1:${port}/${database}`,
    ended: closed.then((status) => (stopping ? new Promise(() => {}) : `${endText(status)}\n${log()}`)),
    async stop() {
      stopping = true;
      child.stdin.end();
      const timer = setTimeout(() => killGroup(child.pid), STOP_TIMEOUT_MS);
      await closed;
      clearTimeout(timer);
    },
    async crash() {
      stopping = true;
      const pid = serverPid(dataDir);
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
      await closed;
      child.stdin.end();
    },
  };
}

/** The last resort for a server that does not end: it recovers from its log at the next start. */
function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it ended at last
  }
}
