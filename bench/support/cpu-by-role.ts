import { readdirSync, readFileSync } from 'node:fs';
import { processStat } from './process-metrics';

/** Interval between two reads of the process table, ms: CPU that a process uses after the last read before its end is not counted. */
const LOOK = 500;

/** CPU time of this process and of all processes that it started, by role (Linux). */
export class CpuByRole {
  private readonly used = new Map<string, number>();
  private readonly known = new Map<number, number>();
  private readonly began = performance.now();
  private readonly timer: NodeJS.Timeout;

  /** `roleOf`: what a process does, by its command line; undefined for this process itself. */
  constructor(private readonly roleOf: (command: string | undefined) => string) {
    this.look();
    this.used.clear();
    this.timer = setInterval(() => this.look(), LOOK);
  }

  /** Cores that each role used since the start, and ms of a core for each of so many requests; nothing is counted any more. */
  stop(requests: number): Readonly<Record<string, { readonly cores: number; readonly ms_per_request: number }>> {
    clearInterval(this.timer);
    this.look();
    const passed = (performance.now() - this.began) / 1_000;
    const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;
    return Object.fromEntries(
      [...this.used].map(([role, seconds]) => [
        role,
        { cores: rounded(seconds / passed), ms_per_request: rounded((seconds * 1_000) / requests) },
      ]),
    );
  }

  private look(): void {
    const all = readdirSync('/proc').flatMap((entry) => (/^\d+$/.test(entry) ? [processStat(Number(entry))] : []));
    const byPid = new Map(all.flatMap((each) => (each ? [[each.pid, each] as const] : [])));
    const isOurs = (pid: number): boolean => pid === process.pid || (pid > 1 && isOurs(byPid.get(pid)?.parent ?? 0));
    for (const { pid, own } of byPid.values()) {
      if (!isOurs(pid)) continue;
      const role = this.roleOf(pid === process.pid ? undefined : commandOf(pid));
      this.used.set(role, (this.used.get(role) ?? 0) + own - (this.known.get(pid) ?? 0));
      this.known.set(pid, own);
    }
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
