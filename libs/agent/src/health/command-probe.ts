import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { errorText } from '@causeway/runtime';
import type { CheckResult } from './health-state';
import { failure } from './probes';

export interface CommandProbe {
  /** Program and arguments; no shell. */
  readonly command: readonly string[];
  /** Name of the user that runs it; undefined: the user of the agent. */
  readonly user: string | undefined;
}

/** Maximum size of output that is read; the rest is discarded, bytes. */
const MAX_OUTPUT = 4_096;
const ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' };

interface UserIds {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Runs a command; it passes if the command exits with 0. The command runs in `/` with a minimal environment, in its own
 * process group, which is killed when the command has ended or `signal` aborts.
 */
export async function probeCommand({ command, user }: CommandProbe, signal: AbortSignal): Promise<CheckResult> {
  const ids = user === undefined ? undefined : await findIds(user).catch(() => undefined);
  if (user !== undefined && !ids) return failure(`there is no user ${JSON.stringify(user)}`);
  if (signal.aborted) return failure('no answer in time');
  return run(command, ids, signal);
}

function run(
  [program = '', ...args]: readonly string[],
  ids: UserIds | undefined,
  signal: AbortSignal,
): Promise<CheckResult> {
  return new Promise((resolve) => {
    const options = { cwd: '/', env: ENVIRONMENT, detached: true, ...ids } as const;
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const take = (chunk: Buffer): void => {
      if (output.length < MAX_OUTPUT) output += chunk.toString('utf8').slice(0, MAX_OUTPUT - output.length);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    const killAll = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The group has already ended.
      }
    };
    const finish = (result: CheckResult): void => {
      // Processes started by the command may hold its output open.
      killAll();
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(result);
    };
    child.once('error', (error) => finish(failure(`cannot be started: ${errorText(error)}`)));
    let ended: CheckResult | undefined;
    child.once('exit', (code, killedBy) => {
      const how = code === null ? `was killed by ${killedBy ?? 'a signal'}` : `ended with ${code}`;
      ended = code === 0 ? { ok: true } : failure(how);
      // Closes the output too, unless a process has left the group: that one is not waited for.
      killAll();
      if (signal.aborted) finish(failure('did not end in time'));
    });
    child.once('close', () => {
      const line = firstLine(output);
      if (signal.aborted) finish(failure('did not end in time'));
      else
        finish(ended && !ended.ok && line !== '' ? failure(`${ended.reason}: ${line}`) : (ended ?? failure('ended')));
    });
    signal.addEventListener('abort', () => finish(ended ?? failure('did not end in time')), { once: true });
  });
}

function firstLine(text: string): string {
  return (text.split('\n').find((line) => line.trim() !== '') ?? '').trim();
}

/** Returns the ids of a user from /etc/passwd. */
async function findIds(user: string): Promise<UserIds | undefined> {
  const table = await readFile('/etc/passwd', 'utf8');
  for (const line of table.split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (name === user && uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}
