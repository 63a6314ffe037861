import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { runCommandLine } from '../../apps/ctl/src/command-line';
import { readCliConfig } from '../../apps/ctl/src/config';
import { ADMIN_TOKEN } from '../support/admin-credential';

const ROOT = resolve(__dirname, '..', '..');

/** The built command line tool. */
export const PROGRAM = resolve(ROOT, 'dist/apps/ctl/src/main.js');

/** Result of a run of the command line tool. */
export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Settings of a run besides the server, by their environment variable; undefined takes one away. */
export type RunEnvironment = Readonly<Record<string, string | undefined>>;

/** The environment of a run. No contexts: those of the person who runs the tests are none of the tests' business. */
function environment(server: string, env: RunEnvironment): Record<string, string | undefined> {
  const own = { CAUSEWAY_SERVER: server, CAUSEWAY_CONTEXTS_FILE: resolve(ROOT, 'no-contexts.json') };
  return { ...process.env, ...own, ...env };
}

/**
 * Runs `causeway` against a server within this process: a process costs half a second of CPU. Signals, pipes and the contents of the bundle are for
 * `runCausewayProcess`, and so is `export`, which writes to the standard output itself.
 */
export async function runCauseway(
  server: string,
  args: readonly string[],
  stdin = '',
  env: RunEnvironment = {},
): Promise<Ran> {
  if (args.includes('export')) return runCausewayProcess(server, args, stdin, env);
  let [out, err, code] = ['', '', 0];
  await runCommandLine([process.execPath, PROGRAM, ...args], {
    config: readCliConfig(environment(server, env)),
    out: { write: (part) => (out += part) },
    error: { write: (part) => (err += part) },
    stdin: () => Promise.resolve(stdin),
    signal: new AbortController().signal,
    colored: false,
    terminal: false,
    finish: (ended) => void (code = ended),
  });
  return { code, out, err };
}

/** As `runCauseway`, with the built program as its user runs it. */
async function runCausewayProcess(
  server: string,
  args: readonly string[],
  stdin = '',
  env: RunEnvironment = {},
): Promise<Ran> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: ROOT, env: environment(server, env) });
  child.stdin.end(stdin);
  const exited = new Promise<number | null>((done) => child.once('close', done));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { out, err, code };
}

/** As `runCauseway`, with the token of an administrator of a program that a test started. */
export function runAsAdmin(
  server: string,
  args: readonly string[],
  stdin = '',
  env: RunEnvironment = {},
): Promise<Ran> {
  return runCauseway(server, args, stdin, { CAUSEWAY_TOKEN: ADMIN_TOKEN, ...env });
}
