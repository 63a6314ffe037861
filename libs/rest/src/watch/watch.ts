import { identityKey, type Resource, type StorePoint } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { IndexEvent } from '@causeway/store';
import type { RestLimits } from '../rest-dependencies';
import { eventId, frame, identityJson, HEARTBEAT, type EventFrames } from './event-frames';
import { PendingChanges, type PendingChange } from './pending-changes';
import type { WatchSink } from './sink';
import type { WatchMemory } from './watch-memory';
import type { WritePacer } from './write-pacer';

/** What a watch works with; the same for all of a server. */
export interface WatchParts {
  readonly clock: Clock;
  readonly frames: EventFrames;
  readonly resourceAt: (key: string) => Resource | undefined;
  readonly memory: WatchMemory;
  readonly pace: WritePacer;
  readonly limits: Pick<RestLimits, 'heartbeat' | 'stall' | 'backlog' | 'watchBytes'>;
}

/** What a watch is about. */
export interface WatchFilter {
  readonly kind: string;
  readonly isSelected: (resource: Resource) => boolean;
}

/** What a reader is told first, and the point it then is at; without `first` that is what `past` added. */
export interface WatchStart {
  readonly first?: AsyncIterable<Resource>;
  readonly point: StorePoint;
}

/** Why a reader was ended that could not keep up. */
export type SlowReason = 'stall' | 'backlog' | 'memory';

/**
 * One reader of changes. It writes only as fast as the reader takes: behind that stands one small entry a resource,
 * and a reader that falls too far behind or stands still is told to list again, or dropped.
 */
export class Watch {
  /** Why it ended, if the reader was too slow. */
  slowReason: SlowReason | undefined;
  private point: StorePoint;
  private lastId = '';
  private ended: 'relist' | 'closed' | undefined;
  private wake: () => void = () => undefined;
  /** What the socket holds and the reader does not take; `drop` gives it up. */
  private stuck: { readonly bytes: number; readonly since: number; readonly drop: () => void } | undefined;
  private readonly pending: PendingChanges;

  constructor(
    private readonly sink: WatchSink,
    private readonly of: WatchFilter,
    private readonly parts: WatchParts,
  ) {
    this.point = { incarnation: '', revision: 0 };
    this.pending = new PendingChanges(of.isSelected, (bytes) => parts.memory.add(bytes));
    sink.gone.addEventListener('abort', () => this.end('closed'), { once: true });
  }

  /** Bytes held for this reader; a buffer that others hold too counts in full. */
  get bytes(): number {
    return this.pending.bytes + (this.stuck?.bytes ?? 0);
  }

  /** Since when the reader takes nothing, by the clock's `elapsed`; Infinity while it takes what it gets. */
  get stuckSince(): number {
    return this.stuck?.since ?? Infinity;
  }

  /** Takes note of what the index learnt. */
  note(event: IndexEvent): void {
    if (this.ended !== undefined) return;
    if (event.reloaded) return this.end('relist');
    this.point = event.point;
    const before = this.pending.waiting;
    for (const change of event.changes) if (change.id.kind === this.of.kind) this.pending.add(change);
    if (this.isBehind()) return this.endSlow('backlog');
    if (this.pending.waiting > before) this.wake();
  }

  /** Takes note of a resource that changed before the watch began; false when there are too many of them. */
  noteReplayed(id: Resource['id']): boolean {
    if (this.ended === undefined) this.pending.addReplayed(id);
    return !this.isBehind();
  }

  /** Ends the watch: the reader is told to list again, or the answer just ends. */
  end(how: 'relist' | 'closed'): void {
    this.ended ??= how;
    this.pending.clear();
    this.wake();
  }

  /** Ends the watch of a reader that is too slow, at once where even `relist` could not be written. */
  endSlow(why: SlowReason): void {
    this.slowReason ??= why;
    this.end('relist');
    if (why === 'memory') this.stuck?.drop();
  }

  /** Tells the beginning, then every change, until the watch ends. */
  async run({ first, point }: WatchStart): Promise<void> {
    this.point = this.point.revision > point.revision ? this.point : point;
    let alive = true;
    if (first) alive = await this.sendList(first, point);
    else if (this.pending.waiting === 0) alive = await this.bookmark(point);
    while (alive && this.ended === undefined) {
      if (this.pending.waiting === 0) alive = (await this.idle()) && alive;
      else alive = await this.sendPending(this.point);
    }
    this.pending.clear();
    if (alive && this.ended === 'relist') this.sink.write(frame('relist', '{}'));
    this.sink.end(!alive);
  }

  /** Sends events, the id with a bookmark behind the last one: a reader cut off in between starts before all of them. */
  private async sendList(first: NonNullable<WatchStart['first']>, point: StorePoint): Promise<boolean> {
    for await (const resource of first) {
      if (this.ended !== undefined) return true;
      this.pending.forget(identityKey(resource.id));
      if (!(await this.send(this.parts.frames.put(resource)))) return false;
    }
    return this.bookmark(point);
  }

  private async sendPending(point: StorePoint): Promise<boolean> {
    for (const change of this.pending.take()) {
      if (this.ended !== undefined) return true;
      const event = this.eventOf(change);
      if (event !== undefined && !(await this.send(event))) return false;
    }
    return this.bookmark(point);
  }

  /** What the reader is told of a resource, by its newest state: changes of it that wait are told with it. */
  private eventOf({ key, id, wasSelected }: PendingChange): Buffer | string | undefined {
    const resource = this.parts.resourceAt(key);
    this.pending.forget(key);
    if (resource && this.of.isSelected(resource)) return this.parts.frames.put(resource);
    return wasSelected ? frame('delete', identityJson(id)) : undefined;
  }

  private bookmark(point: StorePoint): Promise<boolean> {
    if (this.ended !== undefined) return Promise.resolve(true);
    this.lastId = eventId(point);
    return this.send(frame('bookmark', `{"revision":${point.revision}}`, point));
  }

  /** Waits for a change; a while without one sends a bookmark or a heartbeat. */
  private async idle(): Promise<boolean> {
    const woken = await new Promise<boolean>((resolve) => {
      const timer = this.parts.clock.after(this.parts.limits.heartbeat, () => resolve(false));
      this.wake = () => {
        timer.cancel();
        resolve(true);
      };
      if (this.pending.waiting > 0 || this.ended !== undefined) this.wake();
    });
    if (woken) return true;
    return eventId(this.point) === this.lastId ? this.send(HEARTBEAT) : this.bookmark(this.point);
  }

  private isBehind(): boolean {
    const { backlog, watchBytes } = this.parts.limits;
    return this.pending.size > backlog || this.pending.bytes > watchBytes;
  }

  /** False when the reader is gone or does not read. */
  private async send(chunk: string | Buffer): Promise<boolean> {
    const turn = this.parts.pace.take(chunk.length);
    if (turn) await turn;
    if (this.sink.gone.aborted) return false;
    return this.sink.write(chunk) || this.drained(chunk);
  }

  private drained(chunk: string | Buffer): Promise<boolean> {
    const { clock, memory, limits } = this.parts;
    const { gone } = this.sink;
    return new Promise((resolve) => {
      const settle = (alive: boolean): void => {
        if (this.stuck?.drop !== drop) return;
        this.stuck = undefined;
        timer.cancel();
        gone.removeEventListener('abort', drop);
        if (typeof chunk !== 'string') memory.release(chunk);
        resolve(alive);
      };
      const drop = (): void => settle(false);
      const timer = clock.after(limits.stall, () => {
        this.slowReason ??= 'stall';
        drop();
      });
      gone.addEventListener('abort', drop, { once: true });
      this.stuck = { bytes: chunk.length, since: clock.elapsed(), drop };
      this.sink.drained(() => settle(true));
      // Last: it may find that too much is held, and this reader the one to be dropped.
      if (typeof chunk !== 'string') memory.hold(chunk);
    });
  }
}
