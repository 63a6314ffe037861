/*
 * A process that dies is noticed within a quarter of a second, also where the report of its end is lost; one that begins to listen
 * is noticed as soon. At rest the table is read at an interval that grows with its size. Also:
 * libs/agent/src/health/health-checks.spec.ts, test/agent/plaintext.spec.ts.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { systemClock, WakeableSleep } from '@causeway/runtime';
import { freePort } from '../../../../scripts/lib/ports.mjs';
import { until } from '../../../../test/support/until';
import { isListening, listListeningByPort } from './listening-sockets';
import { ListeningWatch, type SocketMonitor } from './listening-watch';

const address = '127.0.0.1';
/** Time in which the end or the begin of a process is noticed, and that of a busy machine, ms. */
const NOTICED = 250;
const SLACK = 1_500;

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A process of its own that listens at a port. */
async function listenAt(port: number): Promise<ChildProcess> {
  const script = `require('node:net').createServer((s) => s.destroy()).listen(${port}, '${address}', () => console.log('up'))`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  ends.push(() => void child.kill('SIGKILL'));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return child;
}

/** A watch of one port, in a loop as health checks run it. */
function watchPort(port: number, monitor?: (ports: readonly number[], onEvent: () => void) => SocketMonitor) {
  const sleep = new WakeableSleep(systemClock);
  const seen = { isThere: false, reads: 0, looks: 0 };
  const listening = (): ReturnType<typeof listListeningByPort> => {
    seen.reads += 1;
    return listListeningByPort();
  };
  const watch = new ListeningWatch({
    clock: systemClock,
    wake: () => sleep.wake(),
    listening,
    ...(monitor && { monitor }),
  });
  const end = new AbortController();
  const run = async (): Promise<void> => {
    while (!end.signal.aborted) {
      const sockets = await watch.look(end.signal);
      seen.looks += 1;
      if (sockets) seen.isThere = isListening(sockets, { address, port });
      await sleep.sleep(Math.max(0, watch.dueAt - systemClock.elapsed()), end.signal);
    }
    watch.close();
  };
  const running = run();
  ends.push(async () => {
    end.abort();
    await running;
  });
  watch.setTargets([{ address, port }]);
  return seen;
}

/** Resolves with the time until something holds, ms. */
async function timeUntil(what: string, holds: () => boolean): Promise<number> {
  const began = performance.now();
  await until(what, holds);
  return performance.now() - began;
}

/** Programs that report sockets of a port; `ss` overwrites the colons of its arguments. */
function listMonitorPids(port: number): readonly number[] {
  return execFileSync('ps', ['-e', '-o', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => /^ *\d+ ss /.test(line) && line.includes(` ${port} `))
    .map((line) => Number.parseInt(line, 10));
}

const HAS_SS = process.platform === 'linux' && works('stdbuf', '-oL', 'ss', '-V');

function works(program: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(program, [...args], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

(process.platform === 'linux' ? describe : describe.skip)('listening sockets', () => {
  (HAS_SS ? it : it.skip)('are read seldom at rest; ends and begins are noticed at once', async () => {
    const port = await freePort();
    const first = await listenAt(port);
    const seen = watchPort(port);
    await until('it is seen', () => seen.isThere);
    await until('ends are reported', () => listMonitorPids(port).length === 1);
    await pause(1_500);
    const before = { ...seen };
    await pause(2_500);
    // Once a second, where the table is small.
    expect(seen.reads - before.reads).toBeLessThanOrEqual(3);
    expect(seen.looks - before.looks).toBeLessThanOrEqual(4);
    first.kill('SIGKILL');
    expect(await timeUntil('its end is noticed', () => !seen.isThere)).toBeLessThan(NOTICED + SLACK);
    await listenAt(port);
    expect(await timeUntil('its begin is noticed', () => seen.isThere)).toBeLessThan(NOTICED + SLACK);
  });

  (HAS_SS ? it : it.skip)(
    'are noticed as fast where the report is lost: its program is killed at that moment',
    async () => {
      const port = await freePort();
      const child = await listenAt(port);
      const seen = watchPort(port);
      await until('ends are reported', () => seen.isThere && listMonitorPids(port).length === 1);
      await pause(1_500);
      for (const pid of listMonitorPids(port)) process.kill(pid, 'SIGKILL');
      child.kill('SIGKILL');
      expect(await timeUntil('its end is noticed', () => !seen.isThere)).toBeLessThan(NOTICED + SLACK);
      await until('ends are reported again', () => listMonitorPids(port).length === 1);
    },
  );

  it('are polled where nothing reports their ends', async () => {
    const port = await freePort();
    const child = await listenAt(port);
    const seen = watchPort(port, () => ({ isRunning: false, close: () => undefined }));
    await until('it is seen', () => seen.isThere);
    child.kill('SIGKILL');
    expect(await timeUntil('its end is noticed', () => !seen.isThere)).toBeLessThan(NOTICED + SLACK);
  });

  it('are read again although a program that hangs reports nothing', async () => {
    const port = await freePort();
    const child = await listenAt(port);
    const seen = watchPort(port, () => ({ isRunning: true, close: () => undefined }));
    await until('it is seen', () => seen.isThere);
    child.kill('SIGKILL');
    await until('its end is noticed', () => !seen.isThere);
  });

  it('get one connection and not four a second where the table does not show who answers', async () => {
    const port = await freePort();
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(port, address, resolve));
    ends.push(() => void server.close());
    const sleep = new WakeableSleep(systemClock);
    // As a socket of another network namespace that the kernel forwards to.
    const watch = new ListeningWatch({
      clock: systemClock,
      wake: () => sleep.wake(),
      listening: () => new Map(),
      monitor: () => ({ isRunning: true, close: () => undefined }),
    });
    watch.setTargets([{ address, port }]);
    const end = AbortSignal.timeout(2_500);
    while (!end.aborted) {
      await watch.look(end);
      await sleep.sleep(Math.max(0, watch.dueAt - systemClock.elapsed()), end);
    }
    expect(connections).toBeGreaterThan(0);
    expect(connections).toBeLessThanOrEqual(4);
  });

  it('are all in what is read, however long the table is', () => {
    const whole = readFileSync('/proc/net/tcp', 'latin1')
      .split('\n')
      .filter((line) => / 0A /.test(line)).length;
    const found = [...(listListeningByPort() ?? new Map<number, readonly unknown[]>()).values()].flat().length;
    expect(found).toBeGreaterThanOrEqual(whole / 2);
  });
});
