import { identityKey, type Resource, type StorePoint } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { IndexEvent } from '@causeway/store';
import { PendingChanges, type PendingChange } from './pending-changes';
import type { WatchMemory, WritePacer } from './watch-budget';
import type { EncodedEvent, WatchSink } from './watch-event';

/** The limits of one watch. Durations in ms. */
export interface WatchBounds {
  /** Silence before a heartbeat. */
  readonly heartbeat: number;
  /** Maximum time for which a reader may read nothing before its watch is closed. */
  readonly stall: number;
  /** Maximum number of changes kept for a slow reader; beyond it, the reader must list again. */
  readonly backlog: number;
  /** Maximum bytes kept for a slow reader; beyond it, the reader must list again. */
  readonly watchBytes: number;
}

/** Shared by all watches. */
export interface WatchShared {
  readonly clock: Clock;
  readonly resourceAt: (key: string) => Resource | undefined;
  readonly memory: WatchMemory;
  readonly pacer: WritePacer;
  readonly bounds: WatchBounds;
}

/** Selects the resources that a watch sends. */
export interface WatchFilter {
  readonly kind: string;
  readonly isSelected: (resource: Resource) => boolean;
}

/** First state of a watch, and its position; without `list` the reader gets what `noteReplayed` added. */
export interface WatchStart {
  readonly list?: AsyncIterable<Resource>;
  readonly point: StorePoint;
}

/**
 * Why the watch of a slow reader was ended: it read nothing, had too many pending changes, or all watches held too much.
 */
export type SlowReason = 'stall' | 'backlog' | 'memory';

/**
 * One reader of changes. Changes are sent only as fast as it accepts them; for the rest one small entry per resource is kept. A reader that lags too
 * far behind or accepts nothing is sent `relist`, or dropped.
 *
 * A change for a reader that waits for one is the usual case, and a thousand readers may wait for it: it is sent without a promise, a timer or a
 * buffer of its own. Everything else is sent by the loop of `run`.
 */
export class Watch {
  /** Why the watch was ended, if the reader was too slow. */
  slowReason: SlowReason | undefined;
  private point: StorePoint;
  private bookmarkedAt: StorePoint | undefined;
  private ended: 'relist' | 'closed' | undefined;
  private sleep: { readonly wake: () => void; quietSince: number } | undefined;
  /** An event from `sendAtOnce` that the reader does not read. */
  private untaken: EncodedEvent | undefined;
  private failure: { readonly error: unknown } | undefined;
  /** The event that the sink holds and the reader does not read; `drop` discards it. */
  private stuck: { readonly bytes: number; readonly since: number; readonly drop: () => void } | undefined;
  private readonly pending: PendingChanges;

  constructor(
    private readonly sink: WatchSink,
    private readonly filter: WatchFilter,
    private readonly shared: WatchShared,
  ) {
    this.point = { incarnation: '', revision: 0 };
    this.pending = new PendingChanges(filter.isSelected, (bytes) => shared.memory.add(bytes));
    sink.gone.addEventListener('abort', () => this.end('closed'), { once: true });
  }

  /** Bytes held for this reader; a buffer that other watches hold as well counts in full. */
  get bytes(): number {
    return this.pending.bytes + (this.stuck?.bytes ?? 0);
  }

  /** Time since which the reader reads nothing, by `elapsed` of the clock; Infinity while it reads. */
  get stuckSince(): number {
    return this.stuck?.since ?? Infinity;
  }

  /** Records an event of the index. */
  record(event: IndexEvent): void {
    if (this.ended !== undefined) return;
    if (event.reloaded) return this.end('relist');
    this.point = event.point;
    const before = this.pending.waiting;
    for (const change of event.changes) if (change.id.kind === this.filter.kind) this.pending.add(change);
    if (this.isBehind()) return this.endSlow('backlog');
    if (this.pending.waiting > before && this.sleep) this.shared.pacer.soon(this.sendAtOnce);
  }

  /** Records a resource that changed before the watch began; returns false if there are too many. */
  recordReplayed(id: Resource['id']): boolean {
    if (this.ended === undefined) this.pending.addReplayed(id);
    return !this.isBehind();
  }

  /** Ends the watch: with `relist`, or by closing the response. */
  end(how: 'relist' | 'closed'): void {
    this.ended ??= how;
    this.pending.clear();
    this.sleep?.wake();
  }

  /** Ends the watch of a slow reader; if memory is short immediately, even if `relist` cannot be written. */
  endSlow(why: SlowReason): void {
    this.slowReason ??= why;
    this.end('relist');
    if (why === 'memory') this.stuck?.drop();
  }

  /** Sends the start, then every change, until the watch ends. */
  async run({ list, point }: WatchStart): Promise<void> {
    this.point = this.point.revision > point.revision ? this.point : point;
    let alive = true;
    if (list) alive = await this.sendList(list, point);
    else if (this.pending.waiting === 0) alive = await this.bookmark(point);
    while (alive && this.ended === undefined) {
      if (this.untaken !== undefined) alive = await this.takenLater(this.untaken);
      else if (this.pending.waiting === 0) alive = await this.idle();
      else alive = await this.sendPending(this.point);
    }
    this.pending.clear();
    if (alive && this.ended === 'relist') this.sink.write(this.sink.encoder.relist);
    this.sink.end(!alive);
  }

  /** Sends a list and then a bookmark: a reader that disconnects in between resumes before the list. */
  private async sendList(list: NonNullable<WatchStart['list']>, point: StorePoint): Promise<boolean> {
    for await (const resource of list) {
      if (this.ended !== undefined) return true;
      this.pending.forget(identityKey(resource.id));
      if (!(await this.send(this.sink.encoder.put(resource)))) return false;
    }
    return this.bookmark(point);
  }

  private async sendPending(point: StorePoint): Promise<boolean> {
    for (const change of this.pending.take()) {
      if (this.ended !== undefined) return true;
      const event = this.toEvent(change);
      this.pending.forget(change.key);
      if (event === undefined) continue;
      const sent = this.send(event);
      if (sent !== true && !(await sent)) return false;
    }
    return this.bookmark(point);
  }

  /** Sends a single change to a waiting reader; wakes the loop for anything else, including errors. */
  private readonly sendAtOnce = (): void => {
    const { sleep, point } = this;
    const { only } = this.pending;
    if (!sleep || (this.pending.waiting === 0 && this.ended === undefined)) return;
    const { pacer, clock } = this.shared;
    if (this.ended !== undefined || !only || !pacer.hasRoom) return sleep.wake();
    try {
      const change = this.toEvent(only);
      if (change === undefined) return sleep.wake();
      const event = this.sink.encoder.bookmarked(change, point);
      void pacer.take(event.length);
      this.pending.forget(only.key);
      this.bookmarkedAt = point;
      sleep.quietSince = clock.elapsed();
      if (this.sink.write(event)) return;
      this.untaken = event;
    } catch (error) {
      this.failure = { error };
    }
    sleep.wake();
  };

  private takenLater(event: EncodedEvent): Promise<boolean> {
    this.untaken = undefined;
    return this.drained(event);
  }

  /** Returns the event for the newest state of a resource; it covers all pending changes of the resource. */
  private toEvent({ key, id, wasSelected }: PendingChange): EncodedEvent | undefined {
    const resource = this.shared.resourceAt(key);
    if (resource && this.filter.isSelected(resource)) return this.sink.encoder.put(resource);
    return wasSelected ? this.sink.encoder.deleted(id) : undefined;
  }

  private bookmark(point: StorePoint): Promise<boolean> | boolean {
    if (this.ended !== undefined) return true;
    this.bookmarkedAt = point;
    return this.send(this.sink.encoder.bookmark(point));
  }

  /** Waits for work that `sendAtOnce` leaves to the loop; after a silence it sends a bookmark, or a heartbeat if the point is unchanged. */
  private async idle(): Promise<boolean> {
    const { clock, bounds } = this.shared;
    const woken = await new Promise<boolean>((resolve) => {
      const settle = (how: boolean): void => {
        timer.cancel();
        this.sleep = undefined;
        resolve(how);
      };
      const sleep = { wake: () => settle(true), quietSince: clock.elapsed() };
      const ring = (): void => {
        const left = sleep.quietSince + bounds.heartbeat - clock.elapsed();
        if (left <= 0) settle(false);
        else timer = clock.after(left, ring);
      };
      let timer = clock.after(bounds.heartbeat, ring);
      this.sleep = sleep;
      if (this.pending.waiting > 0 || this.ended !== undefined) sleep.wake();
    });
    if (this.failure) throw this.failure.error;
    if (woken) return true;
    const at = this.bookmarkedAt;
    const isNews = at?.revision !== this.point.revision || at.incarnation !== this.point.incarnation;
    return isNews ? this.bookmark(this.point) : this.send(this.sink.encoder.heartbeat);
  }

  private isBehind(): boolean {
    const { backlog, watchBytes } = this.shared.bounds;
    return this.pending.size > backlog || this.pending.bytes > watchBytes;
  }

  /** Returns false if the reader disconnected or reads nothing. */
  private send(event: EncodedEvent): Promise<boolean> | boolean {
    const turn = this.shared.pacer.take(event.length);
    return turn ? turn.then(() => this.write(event)) : this.write(event);
  }

  private write(event: EncodedEvent): Promise<boolean> | boolean {
    if (this.sink.gone.aborted) return false;
    return this.sink.write(event) || this.drained(event);
  }

  private drained(event: EncodedEvent): Promise<boolean> {
    const { clock, memory, bounds } = this.shared;
    const { gone } = this.sink;
    return new Promise((resolve) => {
      const settle = (alive: boolean): void => {
        if (this.stuck?.drop !== drop) return;
        this.stuck = undefined;
        timer.cancel();
        gone.removeEventListener('abort', drop);
        if (typeof event !== 'string') memory.release(event);
        resolve(alive);
      };
      const drop = (): void => settle(false);
      const timer = clock.after(bounds.stall, () => {
        this.slowReason ??= 'stall';
        drop();
      });
      gone.addEventListener('abort', drop, { once: true });
      this.stuck = { bytes: event.length, since: clock.elapsed(), drop };
      this.sink.drained(() => settle(true));
      // Last, because `hold` may exceed the limit of all watches and drop this one.
      if (typeof event !== 'string') memory.hold(event);
    });
  }
}
