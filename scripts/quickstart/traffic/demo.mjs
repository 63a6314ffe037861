import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Failure } from '../../lib/failure.mjs';
import { isReady, untilReady } from '../control-plane.mjs';
import { ask, get } from './request.mjs';

/** The file by which `npm run demo:…` finds the demo that runs: only this account may read it. */
export function demoFile(dataDir) {
  return join(dataDir, 'demo.json');
}

/** Serves `npm run demo:status` and `demo:restart` on loopback. Gives what ends it. */
export async function serveDemo(demo) {
  const secret = randomBytes(16).toString('hex');
  const server = createServer((asked, answer) => {
    const { method } = asked;
    const finish = (status, text) => answer.writeHead(status, { 'content-type': 'text/plain' }).end(`${text}\n`);
    // Before the path is looked at: whoever may not ask could send one that is no URL.
    if (asked.headers.authorization !== secret) return finish(403, 'the secret is another');
    const { pathname, searchParams } = new URL(asked.url, 'http://demo');
    if (method === 'GET' && pathname === '/status') return void statusText(demo).then((text) => finish(200, text));
    if (method === 'POST' && pathname === '/restart') return void restart(demo, searchParams.get('name'), finish);
    return finish(404, 'there is GET /status and POST /restart?name=');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const file = demoFile(demo.settings.dataDir);
  const url = `http://127.0.0.1:${server.address().port}`;
  writeFileSync(file, JSON.stringify({ url, secret, trips: demo.trips }), { mode: 0o600 });
  return async () => {
    rmSync(file, { force: true });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
}

async function restart(demo, name, finish) {
  const { parts } = demo;
  const names = parts.list();
  if (!parts.has(name)) {
    const known = names.map((part) => part.name).join(', ');
    return finish(404, `there is no part ${name ?? ''}: there are ${known}`);
  }
  const said = await startedAgain(demo, name);
  return finish(said.isUp ? 200 : 500, said.text);
}

/** Starts all parts that are down. Gives what to print: what was started, else what runs. */
export async function startDown(demo) {
  const down = demo.parts.list().filter(({ isUp }) => !isUp);
  if (down.length === 0) return statusText(demo);
  const said = [];
  // In the order of their first start: control planes after what they store in.
  for (const { name } of down) said.push((await startedAgain(demo, name)).text);
  return said.join('\n');
}

/** Starts a part. A control plane answers then, so that whoever started it can ask it at once. */
async function startedAgain({ parts, settings }, name) {
  try {
    const program = await parts.restart(name);
    const plane = settings.controlPlanes.find((one) => one.name === name);
    if (plane && program) await untilReady(plane, { ...program, signal: endOf(program) });
    return { isUp: true, text: `${name} is started` };
  } catch (error) {
    return { isUp: false, text: `${name} does not start: ${error.message}` };
  }
}

/** Aborts when a program ends by itself. */
function endOf({ ended }) {
  const end = new AbortController();
  void ended.then((words) => end.abort(new Failure(`it ended ${words}`)));
  return end.signal;
}

/**
 * Calls `pressed` each time that somebody presses Enter at the terminal of this process, one call after the other. Gives
 * `{ isThere, stop() }`: where this runs in the background, or reads no terminal, nobody can.
 */
export function atEnter(pressed, input = process.stdin) {
  if (!input.isTTY || isInBackground()) return { isThere: false, stop: () => {} };
  let last = Promise.resolve();
  const read = () => (last = last.then(pressed).catch(() => {}));
  input.on('data', read);
  return {
    isThere: true,
    stop() {
      input.off('data', read);
      input.pause().unref();
    },
  };
}

/** A background process that reads the terminal is stopped by the system. */
function isInBackground() {
  const file = '/proc/self/stat';
  if (!existsSync(file)) return false;
  // The name, in parentheses, may hold spaces: group and foreground group of the terminal are counted from behind it.
  const [, , group, , , foreground] = readFileSync(file, 'latin1').replace(/^.*\)/s, '').trim().split(' ');
  return group !== foreground;
}

/** Returns the text for parts that ended by themselves: why, what still works, how to start them again. */
export async function downText(demo, news, { isThere: isEnterRead }) {
  const or = isEnterRead ? ', or press Enter' : '';
  return [
    ...news.map(({ name, words }) => `${name} is down ${words}`),
    await statusText(demo),
    ...news.map(({ name }) => `Start it again: npm run -s demo:restart ${name}${or}`),
  ].join('\n');
}

/** Returns what runs and what works: asks each control plane, and makes each trip. */
async function statusText({ parts, trips, settings }) {
  const planes = new Map(settings.controlPlanes.map((plane) => [plane.name, plane]));
  const patience = AbortSignal.timeout(3_000);
  const rows = await Promise.all([
    ...parts.list().map(async ({ name, pid, isUp }) => {
      if (!isUp) return [name, 'down'];
      const isAway = planes.has(name) && !(await isReady(planes.get(name), patience));
      return [name, isAway ? `not ready, pid ${pid}` : `up, pid ${pid}`];
    }),
    ...trips.map(async ({ service, process }) => {
      const { ok, text } = await get(process);
      return [`${service} without the mesh`, ok ? text : `no answer: ${text}`];
    }),
    ...trips.map(async (trip) => {
      const { ok, text } = await ask(trip);
      return [`${trip.from} to ${trip.to}`, ok ? text : `no answer: ${text}`];
    }),
  ]);
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, state]) => `  ${name.padEnd(width)}  ${state}`).join('\n');
}
