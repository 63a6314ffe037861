import { fork } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../lib/failure.mjs';
import { waitFor } from '../lib/wait.mjs';

const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
/** Both lines of a warning of Node's own: they stand in the log, and are not why a program ended. */
const NODE_WARNING = /^\((node:\d+\)|Use `node )/;

/**
 * Runs one control plane as a process. It ends when its IPC channel to us closes, so also when we are killed.
 * Gives `{ ended, untilReady(signal), stop() }`; `ended` rejects with a Failure when it ends unasked.
 */
export function startControlPlane({ plane, root, logDir, env }) {
  mkdirSync(logDir, { recursive: true });
  const logFile = join(logDir, `${plane.name}.log`);
  const log = openSync(logFile, 'w');
  const child = fork(join(root, 'dist', 'apps', plane.app, 'src', 'main.js'), {
    cwd: root,
    env,
    execArgv: ['--enable-source-maps'],
    detached: true, // a Ctrl-C on the terminal reaches us, and we end them in order
    stdio: ['ignore', log, 'pipe', 'ipc'],
  });
  const lastWords = collect(child.stderr, log);
  let stopping = false;
  // Not 'close': that never comes once the channel was disconnected from here.
  const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  const silent = new Promise((resolve) => child.stderr.once('close', resolve));
  const exit = exited.then(async (result) => {
    await silent;
    return result;
  });
  const ended = exit.then(({ code, signal }) => {
    closeSync(log);
    if (!stopping)
      throw new Failure(
        `${plane.name} ended by itself (${signal ?? `code ${code}`})${lastWords()}\n  its log: ${logFile}`,
      );
  });
  ended.catch(() => {}); // whoever waits for it sees it

  return {
    plane,
    ended,
    untilReady: (signal) => untilReady(plane, logFile, signal),
    async stop() {
      stopping = true;
      child.kill('SIGTERM');
      if (child.connected) child.disconnect(); // the channel would keep it alive
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await exit;
      clearTimeout(timer);
    },
  };
}

/** Copies a stream to the log file and keeps its last lines. */
function collect(stream, log) {
  let text = '';
  stream.setEncoding('utf8').on('data', (piece) => {
    try {
      writeSync(log, piece);
    } catch {
      // A disk that is full costs the line, not the mesh; what is kept below says it at the end.
    }
    text = (text + piece).slice(-4_000);
  });
  return () => {
    const lines = text.split('\n').filter((line) => line.trim() !== '' && !NODE_WARNING.test(line));
    return lines.length === 0 ? '' : `:\n  ${lines.slice(-5).join('\n  ')}`;
  };
}

async function untilReady(plane, logFile, signal) {
  const isReady = () =>
    fetch(`${plane.diagnosticsUrl}/ready`, { signal }).then(
      ({ status }) => status === 200,
      () => false,
    );
  const ready = await waitFor(isReady, { timeoutMs: READY_TIMEOUT_MS, everyMs: 30, signal });
  if (!ready)
    throw new Failure(`${plane.name} was not ready after ${READY_TIMEOUT_MS / 1000} s: its log is ${logFile}`);
}
