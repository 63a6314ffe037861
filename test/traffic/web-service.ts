import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { endsWithProgram } from '../support/ends-with-program';

const SERVICE = join(__dirname, 'web-service.mjs');
/** Port of a process, at the address of its machine. */
export const PROCESS_PORT = 9_080;

/** Place of a process of a service. */
export interface ServicePlace {
  /** The address of loopback where it listens. */
  readonly loopback: string;
  /** Words before its command. */
  readonly enter?: readonly string[];
}

/** Starts a process that answers each request with its name; resolves when it listens. */
export async function startService(name: string, { loopback, enter = [] }: ServicePlace): Promise<ChildProcess> {
  const command = [...enter, process.execPath, SERVICE, name, loopback, String(PROCESS_PORT)];
  const [program = '', ...args] = command;
  const child = endsWithProgram(spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
  const failed = once(child, 'exit').then(() => Promise.reject(new Error(`${name} has ended`)));
  await Promise.race([once(child.stdout, 'data'), failed]);
  failed.catch(() => undefined);
  return child;
}

/** Sends a signal to a process and resolves when it has ended. */
export async function ended(process: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const over = once(process, 'exit');
  process.kill(signal);
  await over;
}
