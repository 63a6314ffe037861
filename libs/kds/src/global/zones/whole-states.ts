import { errorText } from '@causeway/runtime';
import type { WholeMark } from '@causeway/store';
import type { GlobalSyncOptions } from '../global-sync-options';
import type { LiveSessions, LiveStream } from '../live-sessions';

/**
 * Marks the moments at which this replica holds the whole state of a zone: what a zone claims to have made before such a moment,
 * and was not held then, counts from it (docs/adr/0012-the-order-that-counts.md). One row a zone: a mark for all zones is one statement.
 */
export class WholeStates {
  /** The marks under way, by zone. */
  private readonly marking = new Map<string, Promise<void>>();

  constructor(
    private readonly options: Pick<GlobalSyncOptions, 'sessions' | 'logger'>,
    private readonly live: Pick<LiveSessions, 'of'>,
  ) {}

  /** Marks now for the zones that have a stream here. Never rejects. */
  mark(zones: readonly string[]): Promise<void> {
    return this.write(zones.flatMap((zone) => this.live.of(zone).flatMap((stream) => findMark(zone, stream) ?? [])));
  }

  /** Marks the end of a stream, before it is gone. */
  ended(zone: string, stream: LiveStream): void {
    const mark = findMark(zone, stream);
    if (!mark) return;
    const earlier = this.marking.get(zone) ?? Promise.resolve();
    const marked = earlier.then(() => this.write([mark]));
    this.marking.set(zone, marked);
    void marked.then(() => {
      if (this.marking.get(zone) === marked) this.marking.delete(zone);
    });
  }

  /** Marks what there is of a zone before a newer session replaces its own; no mark of the former is written later. */
  async beforeNext(zone: string): Promise<void> {
    await this.marking.get(zone);
    await this.mark([zone]);
  }

  /** Resolves when no end is being marked. */
  async settled(): Promise<void> {
    await Promise.all(this.marking.values());
  }

  private async write(marks: readonly WholeMark[]): Promise<void> {
    if (marks.length === 0) return;
    try {
      await this.options.sessions.markWhole(marks);
    } catch (error) {
      const zones = marks.map(({ zone }) => zone);
      this.options.logger.warn('that the state of zones is held whole could not be marked', {
        zones,
        error: errorText(error),
      });
    }
  }
}

/** Undefined where the stream does not bring the state of its zone, or has brought nothing yet. */
function findMark(zone: string, stream: LiveStream): WholeMark | undefined {
  const incomplete = stream.incomplete?.();
  return incomplete && { zone, session: stream.session, incomplete };
}
