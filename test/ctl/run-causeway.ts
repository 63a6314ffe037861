import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';

const ROOT = resolve(__dirname, '..', '..');

/** What a run of the command line tool ended with. */
export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the built `causeway` against a server, as its user does. */
export async function runCauseway(server: string, args: readonly string[], stdin = ''): Promise<Ran> {
  const child = spawn(process.execPath, ['dist/apps/ctl/src/main.js', ...args], {
    cwd: ROOT,
    // No contexts: those of the person who runs the tests are none of the tests' business.
    env: { ...process.env, CAUSEWAY_SERVER: server, CAUSEWAY_CONTEXTS_FILE: resolve(ROOT, 'no-contexts.json') },
  });
  child.stdin.end(stdin);
  const exited = new Promise<number | null>((done) => child.once('close', done));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { out, err, code };
}
