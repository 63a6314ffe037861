import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { open, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { aborted, type Clock, type Logger } from '@causeway/runtime';
import { isJsonObject, shortened } from '@causeway/resources';

export interface KeptProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** File that records the process, so that the next run of the agent finds it. */
  readonly file: string;
  /** Log file; a pipe would end the process together with the agent. */
  readonly log: string;
  /** A running process with another fingerprint is replaced. */
  readonly fingerprint: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Size above which the log is truncated, bytes. */
const MAX_LOG_BYTES = 4 * 1024 * 1024;
const LOG_CHECK_INTERVAL = 10_000;

interface ProcessRecord {
  readonly pid: number;
  /** Start time of the process, in kernel ticks: process ids are reused. */
  readonly began: string;
  readonly fingerprint: string;
}

/** Place of a process that another one replaces. */
interface AsidePlace extends Pick<KeptProcessOptions, 'file' | 'log'> {
  /** Moves its other files, before its record. */
  readonly move: () => Promise<void>;
}

const POLL_INTERVAL = 250;
/** Timeout for a process that is in the way of another one to end after SIGTERM, ms. */
const END_TIMEOUT = 5_000;
const MAX_LINE_LENGTH = 1_000;

/**
 * Process that outlives its agent: after a crash, the next agent finds the proxy, which has carried traffic meanwhile.
 * A process with another fingerprint is set aside before another one is started, or ended.
 */
export class KeptProcess {
  private constructor(
    private readonly record: ProcessRecord,
    /** Resolves with how it ended. */
    readonly ended: Promise<string>,
    /** Whether it was found running, not started. */
    readonly isFound: boolean,
    private readonly options: KeptProcessOptions,
  ) {
    void this.boundLog();
  }

  get pid(): number {
    return this.record.pid;
  }

  /** Returns the running process if its fingerprint matches, else starts one. Rejects if it cannot be started. */
  static async start(options: KeptProcessOptions): Promise<KeptProcess> {
    const former = await readRecord(options.file);
    if (former && readStartTime(former.pid) === former.began) {
      const found = new KeptProcess(former, waitForEnd(former, options), true, options);
      if (former.fingerprint === options.fingerprint) return found;
      options.logger.info('a process of an earlier configuration is ended', { pid: former.pid });
      await found.end(END_TIMEOUT);
    }
    await rm(options.log, { force: true });
    const pid = await launch(options);
    const record: ProcessRecord = { pid, began: readStartTime(pid) ?? '', fingerprint: options.fingerprint };
    await writeFile(options.file, JSON.stringify(record), { mode: 0o600 });
    return new KeptProcess(record, waitForEnd(record, options), false, options);
  }

  /**
   * Moves the files of a running process with another fingerprint to `aside`, so that another process can be started beside it, and returns the
   * process; one that was set aside earlier is ended. Without one with another fingerprint, returns that which was set aside earlier, if it runs.
   */
  static async setAside(options: KeptProcessOptions, aside: AsidePlace): Promise<KeptProcess | undefined> {
    const [current, earlier] = [await readRecord(options.file), await readRecord(aside.file)];
    const asideOptions = { ...options, file: aside.file, log: aside.log };
    const isRunning = (record: ProcessRecord | undefined): record is ProcessRecord =>
      record !== undefined && readStartTime(record.pid) === record.began;
    const find = (record: ProcessRecord): KeptProcess =>
      new KeptProcess(record, waitForEnd(record, asideOptions), true, asideOptions);
    const isReplaced = isRunning(current) && current.fingerprint !== options.fingerprint;
    if (isRunning(earlier)) {
      if (!isReplaced) return find(earlier);
      await find(earlier).end(END_TIMEOUT);
    }
    if (!isReplaced) return undefined;
    await aside.move();
    await rename(options.log, aside.log).catch(() => undefined);
    await rename(options.file, aside.file);
    return find(current);
  }

  get isAlive(): boolean {
    return readStartTime(this.pid) === this.record.began;
  }

  /** Sends SIGTERM, and SIGKILL after `timeout` ms. Resolves when the process is gone. */
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
      await clock.sleep(LOG_CHECK_INTERVAL, over.signal);
      const { size } = await stat(log).catch(() => ({ size: 0 }));
      if (size > MAX_LOG_BYTES) await truncate(log).catch(() => undefined);
    }
  }

  private signal(name: NodeJS.Signals): void {
    if (!this.isAlive) return;
    try {
      process.kill(this.pid, name);
    } catch {
      // It has already ended.
    }
  }
}

/** Ends the process recorded in a file, if it still runs. */
export async function endRecordedProcess(
  file: string,
  timeout: number,
  options: Pick<KeptProcessOptions, 'clock' | 'logger'>,
): Promise<void> {
  const record = await readRecord(file);
  if (!record || readStartTime(record.pid) !== record.began) return;
  const found = await KeptProcess.start({ ...options, ...record, file, log: `${file}.log`, command: '', args: [] });
  await found.end(timeout);
}

/** Returns the start time of a process; undefined if it does not exist or is a zombie. */
function readStartTime(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The fields after the command name, which may contain anything: state, parent, … and the start time as the 20th.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

async function readRecord(file: string): Promise<ProcessRecord | undefined> {
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

/** Resolves with the last log line when the process has ended. It is no child of the agent, so its end is polled. */
async function waitForEnd(
  { pid, began }: ProcessRecord,
  { clock, log }: Pick<KeptProcessOptions, 'clock' | 'log'>,
): Promise<string> {
  while (began !== '' && readStartTime(pid) === began) await clock.sleep(POLL_INTERVAL);
  const line = await lastLine(log);
  return line === '' ? 'it has ended' : `it has ended: ${line}`;
}

/**
 * Starts a program as an orphan and prints its process id. Envoy asks the kernel to end it with its parent, so the
 * shell in between must have ended before Envoy starts.
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
      let output = '';
      shell.stdout?.on('data', (part: Buffer) => (output += part.toString()));
      shell.once('error', reject);
      shell.once('close', () => resolve(output));
    });
    const pid = Number(text.trim());
    if (!Number.isInteger(pid) || pid < 2) throw new Error(`${command} cannot be started: ${await lastLine(log)}`);
    return pid;
  } finally {
    await output.close();
  }
}

/** Returns the last line of a log; empty if there is none. */
async function lastLine(log: string): Promise<string> {
  const text = await readFile(log, 'utf8').catch(() => '');
  const lines = text
    .slice(-64 * 1024)
    .trim()
    .split('\n');
  return shortened(lines.at(-1) ?? '', MAX_LINE_LENGTH, '…');
}
