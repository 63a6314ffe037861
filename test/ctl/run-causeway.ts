import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { ADMIN_TOKEN } from '../support/admin-credential';

const ROOT = resolve(__dirname, '..', '..');

/** The built command line tool. */
export const PROGRAM = resolve(ROOT, 'dist/apps/ctl/src/main.js');

/** What a run of the command line tool ended with. */
export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Settings of a run besides the server, by their environment variable; undefined takes one away. */
export type RunEnvironment = Readonly<Record<string, string | undefined>>;

/** Runs the built `causeway` against a server, as its user does. */
export async function runCauseway(
  server: string,
  args: readonly string[],
  stdin = '',
  env: RunEnvironment = {},
): Promise<Ran> {
  // No contexts: those of the person who runs the tests are none of the tests' business.
  const own = { CAUSEWAY_SERVER: server, CAUSEWAY_CONTEXTS_FILE: resolve(ROOT, 'no-contexts.json') };
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: ROOT, env: { ...process.env, ...own, ...env } });
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
