import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '@causeway/runtime';

/** Exit code of an agent that was drained, where a unit of systemd runs it: the unit does not start it again. */
export const DRAINED_EXIT_CODE = 80;

/** File in the state folder that names the unit of systemd which runs the agent. */
const UNIT_FILE = 'unit';
const NAME = /^[\w:@.\\][\w:@.\\-]{0,246}\.service$/;
/** Timeout of a question to systemd, and of a job, which may wait for open connections, ms. */
const [QUESTION_TIMEOUT, JOB_TIMEOUT] = [2_000, 300_000];
/** Interval at which the state of a unit is polled, ms. */
const POLL_INTERVAL = 100;
const ENVIRONMENT = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LANG: 'C', SYSTEMD_PAGER: '' };
const runFile = promisify(execFile);

export type RunSystemctl = (args: readonly string[], timeout: number) => Promise<string>;

/** Rejects if systemctl is missing, fails, or does not answer in time. */
const systemctl: RunSystemctl = async (args, timeout) =>
  (await runFile('systemctl', args, { env: ENVIRONMENT, timeout })).stdout;

/** Unit of systemd that runs an agent. */
export class SystemUnit {
  constructor(
    readonly name: string,
    private readonly run: RunSystemctl = systemctl,
  ) {}

  /** Returns the type of its job, such as `stop` or `restart`; undefined if it has none. Rejects if systemd does not answer. */
  async readJob(): Promise<string | undefined> {
    const jobs = await this.run(['list-jobs', '--no-legend', '--plain', '--full', this.name], QUESTION_TIMEOUT);
    const job = jobs.split('\n').map((line) => line.trim().split(/\s+/));
    return job.find(([, unit]) => unit === this.name)?.[2];
  }

  /** Returns whether the agent is asked to end so that it can be started again. False if systemd does not answer. */
  async isRestarting(): Promise<boolean> {
    const job = await this.readJob().catch(() => undefined);
    return job?.endsWith('restart') === true;
  }

  /** Returns whether the agent runs, ends, waits for its restart, or is about to start. Rejects if systemd does not answer. */
  async isActive(): Promise<boolean> {
    return (await this.readState()) !== 'ended';
  }

  /**
   * Resolves with whether the agent has ended; false: it runs. Waits while it starts, ends, or waits for its restart: meanwhile it may be stopped.
   * Rejects if systemd does not answer.
   */
  async hasEnded(clock: Clock): Promise<boolean> {
    for (;;) {
      const state = await this.readState();
      if (state !== 'undecided') return state === 'ended';
      await clock.sleep(POLL_INTERVAL);
    }
  }

  private async readState(): Promise<'runs' | 'undecided' | 'ended'> {
    const [state, job] = [await this.readProperty('ActiveState'), await this.readJob()];
    if (state === 'inactive' || state === 'failed') return job === undefined || job === 'stop' ? 'ended' : 'undecided';
    return (state === 'active' || state === 'reloading') && job === undefined ? 'runs' : 'undecided';
  }

  /** Stops it: resolves when it has ended, with what it has left. */
  async stop(): Promise<void> {
    await this.run(['stop', this.name], JOB_TIMEOUT);
  }

  /** Stops it, and keeps it from starting with the machine. Does nothing if systemd does not know it. */
  async disable(): Promise<void> {
    const found = await this.readProperty('LoadState').catch(() => 'not-found');
    if (found !== 'not-found') await this.run(['disable', '--now', '--quiet', this.name], JOB_TIMEOUT);
  }

  private async readProperty(name: string): Promise<string> {
    return (await this.run(['show', '--value', '-p', name, this.name], QUESTION_TIMEOUT)).trim();
  }
}

/** Records the unit that runs the agent of a state folder; undefined: none does. */
export async function writeUnitName(folder: string, name: string | undefined): Promise<void> {
  const file = join(folder, UNIT_FILE);
  if (name === undefined) await rm(file, { force: true });
  else await writeFile(file, `${name}\n`, { mode: 0o600 });
}

/** Returns the unit that ran the agent of a state folder last; undefined if none did. */
export async function readSystemUnit(folder: string): Promise<SystemUnit | undefined> {
  const name = (await readFile(join(folder, UNIT_FILE), 'utf8').catch(() => '')).trim();
  return NAME.test(name) ? new SystemUnit(name) : undefined;
}
