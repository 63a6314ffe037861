import type { Clock, Timer } from '@causeway/runtime';
import type { Timeline } from './timeline';

/** Simulated time 0, ms since 1970. */
const EPOCH = 1_760_000_000_000;

/**
 * One operating system process: its events happen only while it runs. Paused (SIGSTOP) it gets everything later and in order; dead it gets nothing,
 * and its pending operations never end.
 */
export class SimProcess {
  readonly clock: SimClock;
  private state: 'running' | 'paused' | 'dead' = 'running';
  private backlog: (() => void)[] = [];
  private catchingUp = false;
  private readonly mourners = new Set<() => void>();

  constructor(
    readonly name: string,
    readonly timeline: Timeline,
    skew = 0,
  ) {
    this.clock = new SimClock(timeline, skew, (action) => this.deliver(action));
  }

  get isDead(): boolean {
    return this.state === 'dead';
  }

  get isRunning(): boolean {
    return this.state === 'running';
  }

  get isPaused(): boolean {
    return this.state === 'paused';
  }

  /** Lets something happen in this process, now or when it goes on. */
  deliver(action: () => void): void {
    if (this.state === 'dead') return;
    if (this.state === 'paused' || this.backlog.length > 0) this.backlog.push(action);
    else action();
  }

  /** `deliver` after a time. */
  later(ms: number, action: () => void): void {
    this.timeline.after(ms, () => this.deliver(action));
  }

  pause(): void {
    if (this.state === 'running') this.state = 'paused';
  }

  resume(): void {
    if (this.state !== 'paused') return;
    this.state = 'running';
    if (!this.catchingUp) this.catchUp();
  }

  /** Nothing of it runs any more, not even clean-up. */
  kill(): void {
    if (this.state === 'dead') return;
    this.state = 'dead';
    this.backlog = [];
    for (const mourner of this.mourners) mourner();
    this.mourners.clear();
  }

  /** Calls `mourner` when the process dies: what its kernel or its peers would see. */
  onDeath(mourner: () => void): () => void {
    this.mourners.add(mourner);
    return () => void this.mourners.delete(mourner);
  }

  private catchUp(): void {
    this.catchingUp = this.state === 'running' && this.backlog.length > 0;
    if (!this.catchingUp) return;
    this.timeline.after(0, () => {
      if (this.state === 'running') this.backlog.shift()?.();
      this.catchUp();
    });
  }
}

/** The clock of one process or machine: off by `skew` ms, which may change. */
export class SimClock implements Clock {
  constructor(
    private readonly timeline: Timeline,
    public skew: number,
    private readonly deliver: (action: () => void) => void = (action) => action(),
  ) {}

  now(): number {
    return EPOCH + this.timeline.now + this.skew;
  }

  elapsed(): number {
    return this.timeline.now;
  }

  after(ms: number, action: () => void): Timer {
    let over = false;
    const event = this.timeline.after(Math.max(0, ms), () =>
      this.deliver(() => {
        if (!over) action();
      }),
    );
    return {
      cancel: () => {
        over = true;
        event.cancel();
      },
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = this.after(ms, done);
      signal?.addEventListener('abort', done, { once: true });
    });
  }
}
