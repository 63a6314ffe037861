import { identityKey, type Identity } from '@causeway/resources';
import { errorText, type Clock, type Logger, type Timer } from '@causeway/runtime';
import { Fenced, type Note, type ResourceIndex } from '@causeway/store';
import {
  confirmLife,
  judgeLife,
  setBackLife,
  type Intake,
  type PendingLife,
  type Receiver,
  type Rejection,
} from '@causeway/sync';
import type { PeerBook, Point } from '../peer-book';
import { BatchWriter, type SizedChange, type WriteOnce } from './batch-writer';
import { HeldMarks } from './held-marks';
import type { CopyPut } from './parcel';

/** A point may lag: what is sent again changes nothing. So it is not written with each message. */
const POINT_PAUSE = 1_000;

/** How often within that time rules of the peer that changed are written at once, so that a session resumes by them. */
const VIEWS = 10;

/** How often the operator's word is looked for while something is held, and what could not be written is tried again, ms. */
const LOOK = 5_000;

/** What writing a peer's state depends on. */
export interface IntakeWriterOptions {
  /** Writes with the right of this session or term. */
  readonly write: WriteOnce;
  readonly book: PeerBook;
  readonly index: ResourceIndex;
  readonly receiver: Receiver;
  /**
   * The life of a plain Kuma peer, which does not say with its state which one it is of; undefined until it is known.
   * Absent for Causeway peers.
   */
  readonly plainLife?: () => string | undefined;
  /** How long absences of a new life are held, ms. */
  readonly hold: number;
  /** Whether others write at this time, who would wait for a large write. */
  readonly isShared?: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What became of a message's resources. */
export interface Outcome {
  /** What the store refused. */
  readonly refused: readonly Rejection[];
  /** What is other than before. */
  readonly written: readonly CopyPut[];
}

/** Writes what messages of a peer ask for; holds back what is absent from a life that is not accepted yet. */
export class IntakeWriter {
  /** By kind: what is absent from the state of a life that is not accepted. */
  private readonly held = new Map<string, Map<string, Identity>>();
  private readonly noted = new Map<string, number>();
  /** Notes of changed rules since `viewsAt`. */
  private views = 0;
  private viewsAt = 0;
  private release: Timer | undefined;
  private look: Timer | undefined;
  /** What was held goes; nothing is taken in meanwhile, or what comes back just then would be deleted. */
  private releasing: Promise<void> = Promise.resolve();
  /** A life whose state on this stream lies before what was applied of it. */
  private setBack: string | undefined;
  private closed = false;
  private readonly marks: HeldMarks;
  private readonly store: BatchWriter;

  constructor(private readonly options: IntakeWriterOptions) {
    const { index, receiver, clock, logger, hold } = options;
    this.store = new BatchWriter(options.write, options.isShared);
    this.marks = new HeldMarks({
      ...{ index, receiver, clock, logger },
      write: (changes) => options.write(changes, []),
      heldTime: ({ id }) => {
        const pending = this.held.get(id.kind)?.has(identityKey(id)) === true ? this.pendingLife() : undefined;
        return pending && { since: pending.since, until: pending.since + hold };
      },
    });
  }

  /** `point` is where the peer's state stands with this message, where it says so; `bytesOf` a resource's size on the wire. */
  async apply(
    kind: string,
    intake: Intake<CopyPut>,
    point: Point | undefined,
    bytesOf: (wireKey: string) => number = () => 0,
  ): Promise<Outcome> {
    await this.releasing;
    const gone = [...intake.removed, ...this.judged(kind, intake, point)];
    const named = intake.puts.map(({ id }) => identityKey(id)).filter((key) => this.held.get(kind)?.delete(key));
    const puts = intake.puts.map(({ wireKey, content }): SizedChange => ({ change: content, bytes: bytesOf(wireKey) }));
    const changes = [...puts, ...gone.map(deletion)];
    const results = await this.store.write(changes, this.notes(kind, intake, point));
    const marked = intake.completed ? [...this.marks.standing(kind), ...(this.held.get(kind)?.keys() ?? [])] : [];
    this.marks.look([...named, ...marked], this.store.revision);
    const refused = intake.puts.flatMap(({ wireKey }, i) => {
      const result = results[i];
      // An older state is superseded: that is as it should be.
      if (result?.type !== 'refused' || result.refusal === 'older') return [];
      return [{ wireKey, reason: result.detail }];
    });
    const written = intake.puts.filter((_, i) => results[i]?.type === 'written').map(({ content }) => content);
    return { refused, written };
  }

  /** What is held of a kind. */
  heldOf(kind: string): number {
    return this.held.get(kind)?.size ?? 0;
  }

  /** The new life of the peer that is not accepted yet. */
  pendingLife(): PendingLife | undefined {
    return this.options.book.life.pending;
  }

  /** Reads whether the operator has accepted the new life; then what it lacks goes. */
  async heedOperator(): Promise<void> {
    try {
      if (!this.closed && (await this.options.book.isConfirmed())) await this.releaseAll();
    } catch (error) {
      this.failed(error);
    }
  }

  /** Resolves when no mark is being written. */
  close(): Promise<void> {
    this.closed = true;
    this.release?.cancel();
    this.look?.cancel();
    return this.marks.close();
  }

  /** The life of a plain Kuma peer became known: what waited for that is judged. */
  async lifeKnown(): Promise<void> {
    const life = this.options.plainLife?.();
    if (life === undefined || this.closed) return;
    const until = this.heldUntil(life);
    if (until === undefined) return this.releaseAll(life);
    this.releaseAt(until);
    for (const held of this.held.values()) this.marks.look(held.keys(), this.store.revision);
  }

  /** What of the absent may go now. */
  private judged(kind: string, { absent, completed }: Intake<CopyPut>, point: Point | undefined): readonly Identity[] {
    if (!completed || !(point ?? this.options.plainLife)) return absent;
    if (point && this.isBehind(kind, point, absent)) this.setBack = point.incarnation;
    const life = point ? this.lifeOf(point) : this.options.plainLife?.();
    const until = life === undefined ? Infinity : this.heldUntil(life);
    if (until === undefined) return absent;
    this.held.set(kind, new Map(absent.map((id) => [identityKey(id), id])));
    if (absent.length > 0) {
      const fields = {
        kind,
        absent: absent.length,
        ...(until === Infinity ? {} : { until: new Date(until).toISOString() }),
      };
      this.options.logger.warn(
        'the peer may have begun a new life and does not name all it had; that is kept for now',
        fields,
      );
    }
    if (until !== Infinity) this.releaseAt(until);
    return [];
  }

  /**
   * The life that a state counts as of. While what a store that was set back lacks is held, all that comes from it is as
   * doubtful as that.
   */
  private lifeOf({ incarnation }: Point): string {
    const pending = this.options.book.life.pending?.incarnation === setBackLife(incarnation);
    return this.setBack === incarnation || pending ? setBackLife(incarnation) : incarnation;
  }

  /**
   * Whether a whole state lies before what was applied of this life: its store was set back and does not know it. What
   * is absent and was made after it was not deleted by it.
   */
  private isBehind(kind: string, { incarnation, revision }: Point, absent: readonly Identity[]): boolean {
    if (revision === 0) return false;
    const reached = this.options.book.all().get(kind);
    if (reached?.incarnation === incarnation && revision < reached.revision) return true;
    return absent.some((id) => {
      const origin = this.options.index.get(id)?.origin;
      return origin?.incarnation === incarnation && revision < origin.revision;
    });
  }

  private heldUntil(life: string): number | undefined {
    const { book, clock, hold } = this.options;
    const { known, heldUntil } = judgeLife(book.life, life, clock.now(), hold);
    // Remembered at once: the time runs from the first sight, over all sessions.
    const note = heldUntil === undefined ? undefined : book.learn(known);
    if (note) void this.store.write([], [note]).catch((error: unknown) => this.failed(error));
    return heldUntil;
  }

  private releaseAt(until: number): void {
    this.release ??= this.options.clock.after(until - this.options.clock.now(), () => void this.releaseAll());
    this.look ??= this.lookLater();
  }

  /** The operator may have spoken to another replica. */
  private lookLater(): Timer {
    return this.options.clock.after(LOOK, () => {
      this.look = undefined;
      if (!this.pendingLife()) return;
      this.look = this.lookLater();
      void this.heedOperator();
    });
  }

  private failed(error: unknown): void {
    // The next session judges anew.
    if (error instanceof Fenced) return;
    this.options.logger.warn('what a new life lacks could not be dealt with', { error: errorText(error) });
  }

  /** What is still absent was deleted; `life` is accepted, else the one that is pending. */
  private releaseAll(life?: string): Promise<void> {
    this.releasing = this.releasing.then(() => this.deleteHeld(life));
    return this.releasing;
  }

  /** Never rejects: what could not be written is still held, and tried again. */
  private async deleteHeld(life: string | undefined): Promise<void> {
    const { book, clock } = this.options;
    if (this.closed) return;
    const known = life === undefined ? confirmLife(book.life) : { accepted: life };
    const gone = [...this.held.values()].flatMap((ids) => [...ids.values()]);
    const note = book.noteOf(known);
    this.release?.cancel();
    try {
      await this.store.write(gone.map(deletion), note ? [note] : []);
      book.learn(known);
      this.setBack = undefined;
      this.held.clear();
      this.look?.cancel();
      this.release = this.look = undefined;
    } catch (error) {
      this.failed(error);
      if (!this.closed) this.release = clock.after(LOOK, () => void this.releaseAll(life));
    }
  }

  private notes(kind: string, { completed }: Intake<CopyPut>, point: Point | undefined): readonly Note[] {
    if (!point) return [];
    const { book, clock, hold } = this.options;
    const now = clock.now();
    const verdict = judgeLife(book.life, this.lifeOf(point), now, hold);
    // What stood before a set-back can be resumed from no more: the numbers of the store are given anew.
    const notes = this.setBack === undefined ? [] : book.forgetPoints(this.setBack);
    const life = completed ? book.learn(verdict.known) : undefined;
    if (life) notes.push(life);
    // While something is held the next session must see the whole state again.
    const moved = !completed && book.all().get(kind)?.view !== point.view && this.mayNoteView(now);
    const due = completed || moved || now - (this.noted.get(kind) ?? 0) >= POINT_PAUSE;
    if (!due || verdict.heldUntil !== undefined || this.heldOf(kind) > 0 || point.revision === 0) return notes;
    this.noted.set(kind, now);
    return [...notes, book.reach(kind, point)];
  }

  private mayNoteView(now: number): boolean {
    if (now - this.viewsAt >= POINT_PAUSE) {
      this.viewsAt = now;
      this.views = 0;
    }
    return ++this.views <= VIEWS;
  }
}

function deletion(id: Identity): SizedChange {
  return { change: { type: 'delete', id, expect: 'any' }, bytes: 0 };
}
