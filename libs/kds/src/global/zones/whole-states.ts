import { errorText } from '@causeway/runtime';
import type { WholeMark } from '@causeway/store';
import type { GlobalSyncOptions } from '../global-sync-options';
import type { LiveSessions, LiveStream } from '../live-sessions';

/**
 * Records the moments at which this replica holds the full state of a zone: a resource that the zone claims to have created before such a moment, but that
 * was not held then, ranks as created at that moment (docs/adr/0012-the-order-that-counts.md). One row per zone; the marks of all zones are one statement.
 */
export class WholeStates {
  /** The marks being written, by zone. */
  private readonly marking = new Map<string, Promise<void>>();

  constructor(
    private readonly options: Pick<GlobalSyncOptions, 'sessions' | 'logger'>,
    private readonly live: Pick<LiveSessions, 'of'>,
  ) {}

  /** Writes a mark, as of now, for the zones that have a stream here. Never rejects. */
  mark(zones: readonly string[]): Promise<void> {
    return this.write(zones.flatMap((zone) => this.live.of(zone).flatMap((stream) => findMark(zone, stream) ?? [])));
  }

  /** Writes the mark for a stream that is about to end. */
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

  /** Writes the zone's mark before a newer session replaces its session; no mark of the older session is written later. */
  async beforeNext(zone: string): Promise<void> {
    await this.marking.get(zone);
    await this.mark([zone]);
  }

  /** Resolves when no mark for an ended stream is being written. */
  async settled(): Promise<void> {
    await Promise.all(this.marking.values());
  }

  private async write(marks: readonly WholeMark[]): Promise<void> {
    if (marks.length === 0) return;
    try {
      await this.options.sessions.markWhole(marks);
    } catch (error) {
      const zones = marks.map(({ zone }) => zone);
      this.options.logger.warn('the marks of complete zone states could not be written', {
        zones,
        error: errorText(error),
      });
    }
  }
}

/** Returns the mark; undefined if the stream does not carry its zone's state, or has received none yet. */
function findMark(zone: string, stream: LiveStream): WholeMark | undefined {
  const incomplete = stream.incomplete?.();
  return incomplete && { zone, session: stream.session, incomplete };
}
