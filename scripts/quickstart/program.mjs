import { fork } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Long enough for an agent on a busy machine: its Envoy outlives an agent that is killed. */
const STOP_TIMEOUT_MS = 30_000;
/** Both lines of a warning of Node's own: they stand in the log, and are not why a program ended. */
const NODE_WARNING = /^\((node:\d+\)|Use `node )/;

/** glibc's malloc keeps memory for each thread that ever asked for some: 20 MB a process, of which there are many here. */
const ONE_ARENA = { MALLOC_ARENA_MAX: '1' };

/**
 * Runs a program of Node as a process that ends when its IPC channel to us closes, so also when we are killed.
 * Gives `{ pid, ended, stop() }`; `ended` resolves when it ends unasked, with what it said last and where its log is.
 */
export function startProgram({ name, file, args = [], execArgv = [], cwd, env, logDir }) {
  mkdirSync(logDir, { recursive: true });
  const logFile = join(logDir, `${name}.log`);
  const log = openSync(logFile, 'w');
  const child = fork(file, args, {
    cwd,
    env: { ...ONE_ARENA, ...env },
    execArgv,
    detached: true, // a Ctrl-C on the terminal reaches us, and we end them in order
    stdio: ['ignore', log, 'pipe', 'ipc'],
  });
  const lastWords = collect(child.stderr, log);
  let stopping = false;
  // Not 'close': that never comes once the channel was disconnected from here.
  const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  const silent = new Promise((resolve) => child.stderr.once('close', resolve));
  const exit = exited.then(async (result) => {
    // Its child processes may live on for a moment with its stderr.
    await Promise.race([silent, new Promise((resolve) => setTimeout(resolve, 500).unref())]);
    return result;
  });
  const ended = new Promise((resolve) => {
    void exit.then(({ code, signal }) => {
      closeSync(log);
      if (!stopping) resolve(`(${signal ?? `code ${code}`})${lastWords()}\n  its log: ${logFile}`);
    });
  });
  return {
    pid: child.pid,
    logFile,
    ended,
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
