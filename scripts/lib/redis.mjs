import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { Failure } from './failure.mjs';
import { endText, spawnGuarded } from './guarded.mjs';
import { freePort } from './ports.mjs';

/** Whether `redis-server` is on the PATH. */
export function hasRedisServer() {
  return spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;
}

/** Installs Redis with the system's package manager and says whether it is there then. Needs root. */
export function installRedisServer() {
  const apt = (...args) =>
    spawnSync('apt-get', ['-qq', ...args], { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
  const install = () => apt('install', '-y', '--no-install-recommends', 'redis-server');
  if (!install()) apt('update') && install();
  return hasRedisServer();
}

/**
 * Runs `redis-server` on 127.0.0.1, keeping nothing on disk: `{ url, port, pid, ended, stop() }`. `ended` resolves with how it
 * ended, where that was unasked. `configFile` is a file of settings, such as its password, which no command line shows.
 */
export async function startRedis({ port: wanted, configFile } = {}) {
  const port = wanted ?? (await freePort());
  const listen = ['--port', String(port), '--bind', '127.0.0.1'];
  const keepNothing = ['--save', '', '--appendonly', 'no', '--dir', tmpdir()];
  const child = spawnGuarded(['redis-server', ...(configFile ? [configFile] : []), ...listen, ...keepNothing], {
    how: 'TERM',
    cwd: tmpdir(),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let stopping = false;
  const closed = new Promise((resolve) => child.once('exit', resolve));
  const log = await untilReady(child);
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: Number(/\bpid=(\d+)/.exec(log())?.[1]),
    ended: closed.then((status) => (stopping ? new Promise(() => {}) : endText(status))),
    async stop() {
      stopping = true;
      child.stdin.end();
      await closed;
    },
  };
}

/** Resolves with the function that gives the last lines of the log. */
function untilReady(child) {
  let log = '';
  return new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      log = (log + text).slice(-4_000);
      if (log.includes('Ready to accept connections')) resolve(() => log);
    });
    child.once('error', reject);
    child.once('close', () => reject(new Failure(`redis-server did not start: ${log.trim().split('\n').at(-1)}`)));
  });
}
