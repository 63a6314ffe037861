import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { aborted, type Clock, type Logger } from '@causeway/runtime';
import { isJsonObject, shortened } from '@causeway/resources';

export interface KeptProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** File that records the process, so that the next run of the agent finds it. */
  readonly file: string;
  /** File of its log; a pipe would end it together with the agent. */
  readonly log: string;
  /** Differs where a process that was started before must not be kept. */
  readonly fingerprint: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A log that has grown larger is begun anew, bytes. */
const MAX_LOG_BYTES = 4 * 1024 * 1024;
const LOG_PERIOD = 10_000;

interface Noted {
  readonly pid: number;
  /** Start time of the process, in ticks of the kernel: process ids are reused. */
  readonly began: string;
  readonly fingerprint: string;
}

const POLL_INTERVAL = 250;
const MAX_LINE_LENGTH = 1_000;

/**
 * A process that outlives the one who started it: an agent that was killed finds its proxy again, which has carried traffic meanwhile.
 * Where a process of another fingerprint is found, it is ended first.
 */
export class KeptProcess {
  private constructor(
    private readonly noted: Noted,
    /** Resolves with how it ended. */
    readonly ended: Promise<string>,
    /** It was found, and not started. */
    readonly isFound: boolean,
    private readonly options: KeptProcessOptions,
  ) {
    void this.boundLog();
  }

  get pid(): number {
    return this.noted.pid;
  }

  /** The process of before where it fits, else a new one. Rejects where it cannot be started. */
  static async start(options: KeptProcessOptions): Promise<KeptProcess> {
    const noted = await readNote(options.file);
    if (noted && beganAt(noted.pid) === noted.began) {
      const found = new KeptProcess(noted, waitForEnd(noted, options), true, options);
      if (noted.fingerprint === options.fingerprint) return found;
      options.logger.info('a process of an earlier configuration is ended', { pid: noted.pid });
      await found.end(5_000);
    }
    await rm(options.log, { force: true });
    const pid = await launch(options);
    const note: Noted = { pid, began: beganAt(pid) ?? '', fingerprint: options.fingerprint };
    await writeFile(options.file, JSON.stringify(note), { mode: 0o600 });
    return new KeptProcess(note, waitForEnd(note, options), false, options);
  }

  get isAlive(): boolean {
    return beganAt(this.pid) === this.noted.began;
  }

  /** Asks it to end, and kills it after `timeout` ms. Resolves when it is gone. */
  async end(timeout: number): Promise<void> {
    this.signal('SIGTERM');
    const over = new AbortController();
    void this.ended.then(() => over.abort());
    await this.options.clock.sleep(timeout, over.signal);
    if (!over.signal.aborted) this.signal('SIGKILL');
    await aborted(over.signal);
    await rm(this.options.file, { force: true });
  }

  private async boundLog(): Promise<void> {
    const { log, clock } = this.options;
    const over = new AbortController();
    void this.ended.then(() => over.abort());
    while (!over.signal.aborted) {
      await clock.sleep(LOG_PERIOD, over.signal);
      const { size } = await stat(log).catch(() => ({ size: 0 }));
      if (size > MAX_LOG_BYTES) await truncate(log).catch(() => undefined);
    }
  }

  private signal(name: NodeJS.Signals): void {
    if (!this.isAlive) return;
    try {
      process.kill(this.pid, name);
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** Ends a process that is noted in a file, where it still runs. */
export async function endKept(
  file: string,
  timeout: number,
  options: Pick<KeptProcessOptions, 'clock' | 'logger'>,
): Promise<void> {
  const noted = await readNote(file);
  if (!noted || beganAt(noted.pid) !== noted.began) return;
  const found = await KeptProcess.start({ ...options, ...noted, file, log: `${file}.log`, command: '', args: [] });
  await found.end(timeout);
}

/** The start of a process by the kernel; undefined where there is none, or it has ended and waits for its parent. */
function beganAt(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // After the name, which may hold anything: state, parent, … and as the 20th the start.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

async function readNote(file: string): Promise<Noted | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (!isJsonObject(value)) return undefined;
    const { pid, began, fingerprint } = value;
    if (typeof pid !== 'number' || typeof began !== 'string' || typeof fingerprint !== 'string') return undefined;
    return Number.isInteger(pid) && pid > 1 && began !== '' ? { pid, began, fingerprint } : undefined;
  } catch {
    return undefined;
  }
}

/** Resolves with the last output of a process, when it has ended: it is no child, so its end must be polled. */
async function waitForEnd(
  { pid, began }: Noted,
  { clock, log }: Pick<KeptProcessOptions, 'clock' | 'log'>,
): Promise<string> {
  while (began !== '' && beganAt(pid) === began) await clock.sleep(POLL_INTERVAL);
  const line = await lastLine(log);
  return line === '' ? 'it has ended' : `it has ended: ${line}`;
}

/**
 * Starts a program detached from its parent, and prints its process id. Envoy ends with its parent (it asks the kernel
 * for that at its start), so its parent, the shell in between, must be gone by then.
 */
const ORPHAN = '(exec >&2; while kill -0 $$ 2>/dev/null; do sleep 0.01; done; exec "$@") & echo $!';

async function launch({ command, args, log }: KeptProcessOptions): Promise<number> {
  const output = await open(log, 'a', 0o600);
  try {
    const shell = spawn('/bin/sh', ['-c', ORPHAN, 'sh', command, ...args], {
      detached: true,
      stdio: ['ignore', 'pipe', output.fd],
    });
    const text = await new Promise<string>((resolve, reject) => {
      let said = '';
      shell.stdout?.on('data', (part: Buffer) => (said += part.toString()));
      shell.once('error', reject);
      shell.once('close', () => resolve(said));
    });
    const pid = Number(text.trim());
    if (!Number.isInteger(pid) || pid < 2) throw new Error(`${command} cannot be started: ${await lastLine(log)}`);
    return pid;
  } finally {
    await output.close();
  }
}

/** Returns the last output of a program; empty if there was none. */
async function lastLine(log: string): Promise<string> {
  const text = await readFile(log, 'utf8').catch(() => '');
  const lines = text
    .slice(-64 * 1024)
    .trim()
    .split('\n');
  return shortened(lines.at(-1) ?? '', MAX_LINE_LENGTH, '…');
}
