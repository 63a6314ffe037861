import type { StorePoint } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { IndexEvent } from '@causeway/store';
import type { RestLimits } from '../dependencies';
import type { ResourceTexts } from '../read/resource-text';
import { eventId, frame, goneText, HEARTBEAT } from './event-frames';
import type { PendingChanges, Told } from './pending-changes';
import type { Sink } from './sink';

/** What a watch works with. */
export interface WatchParts {
  readonly clock: Clock;
  readonly texts: ResourceTexts;
  readonly limits: Pick<RestLimits, 'heartbeat' | 'stall' | 'backlog'>;
}

/** What a reader is told first, and the point it then is at. */
export interface Beginning {
  readonly told: Iterable<Told>;
  readonly point: StorePoint;
}

/**
 * One reader of changes. It writes only as fast as the reader takes: behind that stands one pending change a resource,
 * and a reader that falls too far behind or stands still is told to list again, or dropped.
 */
export class Watch {
  private point: StorePoint;
  private lastId = '';
  private ended: 'relist' | 'closed' | undefined;
  private wake: () => void = () => undefined;

  constructor(
    private readonly sink: Sink,
    private readonly pending: PendingChanges,
    private readonly kind: string,
    private readonly parts: WatchParts,
  ) {
    this.point = { incarnation: '', revision: 0 };
    sink.gone.addEventListener('abort', () => this.end('closed'), { once: true });
  }

  /** Takes note of what the index learnt. */
  note(event: IndexEvent): void {
    if (event.reloaded) return this.end('relist');
    this.point = event.point;
    const before = this.pending.size;
    for (const change of event.changes) if (change.id.kind === this.kind) this.pending.add(change);
    if (this.pending.size > this.parts.limits.backlog) return this.end('relist');
    if (this.pending.size > before) this.wake();
  }

  /** Ends the watch: the reader is told to list again, or the answer just ends. */
  end(how: 'relist' | 'closed'): void {
    this.ended ??= how;
    this.wake();
  }

  /** Tells the beginning, then every change, until the watch ends. */
  async run({ told, point }: Beginning): Promise<void> {
    this.point = this.point.revision > point.revision ? this.point : point;
    let alive = await this.tell(told, point);
    while (alive && this.ended === undefined) {
      if (this.pending.size === 0) alive = (await this.idle()) && alive;
      else alive = await this.tell(this.pending.take(), this.point);
    }
    if (alive && this.ended === 'relist') this.sink.write(frame('relist', '{}'));
    this.sink.end(!alive);
  }

  /** Sends events, the id with a bookmark behind the last one: a reader cut off in between starts before all of them. */
  private async tell(told: Iterable<Told>, point: StorePoint): Promise<boolean> {
    for (const one of told) if (!(await this.send(this.text(one)))) return false;
    return this.bookmark(point);
  }

  private text(told: Told): string {
    if (told.type === 'put') return frame('put', this.parts.texts.inList(told.resource));
    return frame('delete', goneText(told.id));
  }

  private bookmark(point: StorePoint): Promise<boolean> {
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
      if (this.pending.size > 0 || this.ended !== undefined) this.wake();
    });
    if (woken) return true;
    return eventId(this.point) === this.lastId ? this.send(HEARTBEAT) : this.bookmark(this.point);
  }

  /** False when the reader is gone or does not read. */
  private async send(text: string): Promise<boolean> {
    if (this.sink.gone.aborted) return false;
    if (this.sink.write(text)) return true;
    return new Promise((resolve) => {
      const settle = (alive: boolean): void => {
        timer.cancel();
        this.sink.gone.removeEventListener('abort', lost);
        resolve(alive);
      };
      const lost = (): void => settle(false);
      const timer = this.parts.clock.after(this.parts.limits.stall, lost);
      this.sink.gone.addEventListener('abort', lost, { once: true });
      this.sink.drained(() => settle(true));
    });
  }
}
