import { spawn, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { Failure } from './failure.mjs';
import { freePort } from './ports.mjs';

// As for Postgres: the shell holds our pipe, so that Redis ends with this process, however that dies.
const GUARD =
  'exec 3<&0; "$@" 3<&- </dev/null & p=$!; (cat <&3 >/dev/null 2>&1; kill -TERM $p) 2>/dev/null & exec 3<&-; wait $p';

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

/** Runs `redis-server` on a free port of 127.0.0.1, keeping nothing on disk: `{ url, port, pid, stop() }`. */
export async function startRedis() {
  const port = await freePort();
  const listen = ['--port', String(port), '--bind', '127.0.0.1'];
  const keepNothing = ['--save', '', '--appendonly', 'no', '--dir', tmpdir()];
  const child = spawn('/bin/sh', ['-c', GUARD, 'sh', 'redis-server', ...listen, ...keepNothing], {
    cwd: tmpdir(),
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => {});
  const closed = new Promise((resolve) => child.once('exit', resolve));
  await untilReady(child);
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: child.pid,
    async stop() {
      child.stdin.end();
      await closed;
    },
  };
}

function untilReady(child) {
  let log = '';
  return new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      log = (log + text).slice(-2_000);
      if (log.includes('Ready to accept connections')) resolve();
    });
    child.once('error', reject);
    child.once('close', () => reject(new Failure(`redis-server did not start: ${log.trim().split('\n').at(-1)}`)));
  });
}
