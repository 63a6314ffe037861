import { readdirSync, readFileSync } from 'node:fs';
import { processStat, type ByName } from './process-metrics';

/** What a process did in a time, its children included. */
export interface ProcessActivity {
  /** CPU time, in percent of a core. */
  readonly cpu_percent: number;
  /** Voluntary context switches of all threads, a second. Those of a child that lived for less than `INTERVAL` are not counted. */
  readonly wakeups: number;
  /** Programs that it started and that lived for long enough to be seen. */
  readonly children: number;
}

/** How often processes are read, ms. */
const INTERVAL = 1_000;

/** Counts what processes do, by name, until it is stopped (Linux). */
export class Activity {
  private readonly began = performance.now();
  private readonly trees: ReadonlyMap<string, ProcessTree>;
  private readonly timer: NodeJS.Timeout;

  constructor(pids: ReadonlyMap<string, number>) {
    this.trees = new Map([...pids].map(([name, pid]) => [name, new ProcessTree(pid)]));
    this.read();
    this.timer = setInterval(() => this.read(), INTERVAL);
  }

  stop(): ByName<ProcessActivity> {
    clearInterval(this.timer);
    this.read();
    const seconds = (performance.now() - this.began) / 1_000;
    return Object.fromEntries([...this.trees].map(([name, tree]) => [name, tree.activity(seconds)]));
  }

  private read(): void {
    const children = listChildren();
    for (const tree of this.trees.values()) tree.read(children);
  }
}

/** A process and all that it started. */
class ProcessTree {
  /** Voluntary context switches by thread, as first and as last seen. */
  private readonly threads = new Map<string, { readonly first: number; last: number }>();
  private readonly cpu = { first: NaN, last: 0 };
  private readonly known = new Set<number>();
  private atStart = 0;

  constructor(private readonly root: number) {}

  read(children: ReadonlyMap<number, readonly number[]>): void {
    const isFirst = Number.isNaN(this.cpu.first);
    const all = [this.root];
    for (const pid of all) all.push(...(children.get(pid) ?? []));
    for (const pid of all) {
      this.known.add(pid);
      for (const [thread, switches] of voluntarySwitches(pid)) {
        const seen = this.threads.get(thread);
        // A thread that began later began with none.
        if (seen) seen.last = switches;
        else this.threads.set(thread, { first: isFirst ? switches : 0, last: switches });
      }
    }
    const stats = all.map(processStat);
    this.cpu.last = stats.reduce((sum, stat) => sum + (stat ? stat.own + stat.ended : 0), 0);
    if (!isFirst) return;
    this.cpu.first = this.cpu.last;
    this.atStart = this.known.size;
  }

  activity(seconds: number): ProcessActivity {
    const switches = [...this.threads.values()].reduce((sum, { first, last }) => sum + last - first, 0);
    return {
      cpu_percent: Math.round(((this.cpu.last - this.cpu.first) / seconds) * 1e4) / 100,
      wakeups: Math.round((switches / seconds) * 10) / 10,
      children: this.known.size - this.atStart,
    };
  }
}

/** Returns the children of each process. */
function listChildren(): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const stat = /^\d+$/.test(entry) ? processStat(Number(entry)) : undefined;
    if (!stat) continue;
    const known = children.get(stat.parent);
    if (known) known.push(stat.pid);
    else children.set(stat.parent, [stat.pid]);
  }
  return children;
}

function voluntarySwitches(pid: number): readonly (readonly [string, number])[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => {
      const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'latin1');
      return [thread, Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0)] as const;
    });
  } catch {
    return [];
  }
}
