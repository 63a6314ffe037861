import { identityKey, type Identity } from '@causeway/resources';
import { errorText, type Clock, type Logger, type Timer } from '@causeway/runtime';
import { Fenced, type Change, type Note, type WriteResult } from '@causeway/store';
import { confirmLife, judgeLife, type Intake, type Rejection } from '@causeway/sync';
import type { PeerBook, Point } from '../peer-book';
import type { CopyPut } from './parcel';

/** Largest number of changes in one write: larger ones delay everybody else (design.md §2.4). */
const BATCH = 500;

/** A point may lag: what is sent again changes nothing. So it is not written with each message. */
const POINT_PAUSE = 1_000;

/** What writing a peer's state depends on. */
export interface IntakeWriterOptions {
  /** Writes with the right of this session or term. */
  readonly write: (changes: readonly Change[], notes: readonly Note[]) => Promise<WriteResult>;
  readonly book: PeerBook;
  /** How long absences of a new life are held, ms. */
  readonly hold: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Writes what messages of a peer ask for; holds back what is absent from a life that is not accepted yet. */
export class IntakeWriter {
  /** By kind: what is absent from the state of a life that is not accepted. */
  private readonly held = new Map<string, Map<string, Identity>>();
  private readonly noted = new Map<string, number>();
  private release: Timer | undefined;
  private closed = false;

  constructor(private readonly options: IntakeWriterOptions) {}

  /** `point` is where the peer's state stands with this message, where it says so. What the store refused comes back. */
  async apply(kind: string, intake: Intake<CopyPut>, point: Point | undefined): Promise<readonly Rejection[]> {
    const gone = [...intake.removed, ...this.judged(kind, intake, point)];
    for (const { id } of intake.puts) this.held.get(kind)?.delete(identityKey(id));
    const changes = [...intake.puts.map(({ content }): Change => content), ...gone.map(deletion)];
    const results = await this.write(changes, this.notes(kind, intake, point));
    return intake.puts.flatMap(({ wireKey }, i) => {
      const result = results[i];
      // An older state is superseded: that is as it should be.
      if (result?.type !== 'refused' || result.refusal === 'older') return [];
      return [{ wireKey, reason: result.detail }];
    });
  }

  /** What is held of a kind. */
  heldOf(kind: string): number {
    return this.held.get(kind)?.size ?? 0;
  }

  /** The operator says that the new life is the true one: what it lacks goes. False when nothing is held. */
  async confirm(): Promise<boolean> {
    const { pending } = this.options.book.life;
    if (!pending) return false;
    this.release?.cancel();
    await this.releaseAll();
    return true;
  }

  close(): void {
    this.closed = true;
    this.release?.cancel();
  }

  /** What of the absent may go now. */
  private judged(kind: string, { absent, completed }: Intake<CopyPut>, point: Point | undefined): readonly Identity[] {
    if (!point || !completed) return absent;
    const { book, clock, hold } = this.options;
    const verdict = judgeLife(book.life, point.incarnation, clock.now(), hold);
    if (verdict.heldUntil === undefined) return absent;
    this.held.set(kind, new Map(absent.map((id) => [identityKey(id), id])));
    if (absent.length > 0) {
      this.options.logger.warn('the peer began a new life and does not name all it had; that is kept for now', {
        kind,
        absent: absent.length,
        until: new Date(verdict.heldUntil).toISOString(),
      });
    }
    this.release ??= clock.after(verdict.heldUntil - clock.now(), () => void this.releaseAll());
    return [];
  }

  /** What is still absent was deleted. */
  private async releaseAll(): Promise<void> {
    const { book, logger } = this.options;
    if (this.closed) return;
    const note = book.learn(confirmLife(book.life));
    const gone = [...this.held.values()].flatMap((ids) => [...ids.values()]);
    this.held.clear();
    try {
      await this.write(gone.map(deletion), note ? [note] : []);
    } catch (error) {
      // The next session judges anew and deletes them itself.
      if (!(error instanceof Fenced))
        logger.warn('what a new life lacks could not be deleted', { error: errorText(error) });
    }
  }

  private notes(kind: string, { completed }: Intake<CopyPut>, point: Point | undefined): readonly Note[] {
    if (!point) return [];
    const { book, clock, hold } = this.options;
    const now = clock.now();
    const verdict = judgeLife(book.life, point.incarnation, now, hold);
    const notes: Note[] = [];
    const life = completed ? book.learn(verdict.known) : undefined;
    if (life) notes.push(life);
    // While something is held the next session must see the whole state again.
    const moved = book.all().get(kind)?.view !== point.view;
    const due = completed || moved || now - (this.noted.get(kind) ?? 0) >= POINT_PAUSE;
    if (!due || verdict.heldUntil !== undefined || point.revision === 0) return notes;
    this.noted.set(kind, now);
    return [...notes, book.reach(kind, point)];
  }

  private async write(changes: readonly Change[], notes: readonly Note[]): Promise<WriteResult['results']> {
    const results: WriteResult['results'][number][] = [];
    for (let from = 0; from === 0 || from < changes.length; from += BATCH) {
      const last = from + BATCH >= changes.length;
      if (changes.length === 0 && notes.length === 0) break;
      const written = await this.options.write(changes.slice(from, from + BATCH), last ? notes : []);
      results.push(...written.results);
    }
    return results;
  }
}

function deletion(id: Identity): Change {
  return { type: 'delete', id, expect: 'any' };
}
