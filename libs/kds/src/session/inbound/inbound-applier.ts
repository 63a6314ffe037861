import { identityKey, type Identity } from '@causeway/resources';
import { errorText, type Clock, type Logger, type Timer } from '@causeway/runtime';
import { Fenced, type Note, type IndexReader } from '@causeway/store';
import {
  confirmIncarnation,
  judgeIncarnation,
  rolledBackIncarnation,
  type InboundChanges,
  type PendingIncarnation,
  type Receiver,
  type Rejection,
} from '@causeway/sync';
import type { PeerState, ResumePoint } from '../peer-state';
import { BatchWriter, type SizedChange, type FencedWrite } from './batch-writer';
import { HeldConditionWriter } from './held-condition-writer';
import type { CopyPut } from './decode-message';

/** A point may lag: what is sent again changes nothing. So it is not written with each message. */
const POINT_PAUSE = 1_000;

/** How often within that time rules of the peer that changed are written at once, so that a session resumes by them. */
const VIEW_CHANGES = 10;

/** How often the operator's word is looked for while something is held, and what could not be written is tried again, ms. */
const CONFIRMATION_POLL = 5_000;

/** What writing a peer's state depends on. */
export interface InboundApplierOptions {
  /** Writes with the right of this session or term. */
  readonly write: FencedWrite;
  readonly peerState: PeerState;
  readonly index: IndexReader;
  readonly receiver: Receiver;
  /**
   * The life of a plain Kuma peer, which does not say with its state which one it is of; undefined until it is known.
   * Absent for Causeway peers.
   */
  readonly kumaIncarnation?: () => string | undefined;
  /** How long absences of a new life are held, ms. */
  readonly hold: number;
  /** Whether others write at this time, who would wait for a large write. */
  readonly isShared?: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What became of a message's resources. */
export interface ApplyResult {
  /** What the store refused. */
  readonly refused: readonly Rejection[];
  /** What is other than before. */
  readonly written: readonly CopyPut[];
}

/** Writes what messages of a peer ask for; holds back what is absent from a life that is not accepted yet. */
export class InboundApplier {
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
  private readonly marks: HeldConditionWriter;
  private readonly store: BatchWriter;

  constructor(private readonly options: InboundApplierOptions) {
    const { index, receiver, clock, logger, hold } = options;
    this.store = new BatchWriter(options.write, options.isShared);
    this.marks = new HeldConditionWriter({
      ...{ index, receiver, clock, logger },
      write: (changes) => options.write(changes, []),
      holdPeriod: ({ id }) => {
        const pending = this.held.get(id.kind)?.has(identityKey(id)) === true ? this.pendingIncarnation() : undefined;
        return pending && { since: pending.since, until: pending.since + hold };
      },
    });
  }

  /** `point` is where the peer's state stands with this message, where it says so; `bytesOf` a resource's size on the wire. */
  async apply(
    kind: string,
    intake: InboundChanges<CopyPut>,
    point: ResumePoint | undefined,
    bytesOf: (wireKey: string) => number = () => 0,
  ): Promise<ApplyResult> {
    await this.releasing;
    const gone = [...intake.removed, ...this.judged(kind, intake, point)];
    const named = intake.puts.map(({ id }) => identityKey(id)).filter((key) => this.held.get(kind)?.delete(key));
    const puts = intake.puts.map(({ wireKey, content }): SizedChange => ({ change: content, bytes: bytesOf(wireKey) }));
    const changes = [...puts, ...gone.map(deletion)];
    const results = await this.store.write(changes, this.notes(kind, intake, point));
    const marked = intake.completed ? [...this.marks.markedCopies(kind), ...(this.held.get(kind)?.keys() ?? [])] : [];
    this.marks.enqueue([...named, ...marked], this.store.revision);
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
  pendingIncarnation(): PendingIncarnation | undefined {
    return this.options.peerState.incarnation.pending;
  }

  /** Reads whether the operator has accepted the new life; then what it lacks goes. */
  async checkConfirmation(): Promise<void> {
    try {
      if (!this.closed && (await this.options.peerState.readConfirmation())) await this.releaseAll();
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
  async kumaIncarnationKnown(): Promise<void> {
    const life = this.options.kumaIncarnation?.();
    if (life === undefined || this.closed) return;
    const until = this.heldUntil(life);
    if (until === undefined) return this.releaseAll(life);
    this.releaseAt(until);
    for (const held of this.held.values()) this.marks.enqueue(held.keys(), this.store.revision);
  }

  /** What of the absent may go now. */
  private judged(
    kind: string,
    { absent, completed }: InboundChanges<CopyPut>,
    point: ResumePoint | undefined,
  ): readonly Identity[] {
    if (!completed || !(point ?? this.options.kumaIncarnation)) return absent;
    if (point && this.isBehind(kind, point, absent)) this.setBack = point.incarnation;
    const life = point ? this.lifeOf(point) : this.options.kumaIncarnation?.();
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
  private lifeOf({ incarnation }: ResumePoint): string {
    const pending = this.options.peerState.incarnation.pending?.incarnation === rolledBackIncarnation(incarnation);
    return this.setBack === incarnation || pending ? rolledBackIncarnation(incarnation) : incarnation;
  }

  /**
   * Whether a whole state lies before what was applied of this life: its store was set back and does not know it. What
   * is absent and was made after it was not deleted by it.
   */
  private isBehind(kind: string, { incarnation, revision }: ResumePoint, absent: readonly Identity[]): boolean {
    if (revision === 0) return false;
    const reached = this.options.peerState.resumePoints().get(kind);
    if (reached?.incarnation === incarnation && revision < reached.revision) return true;
    return absent.some((id) => {
      const origin = this.options.index.get(id)?.origin;
      return origin?.incarnation === incarnation && revision < origin.revision;
    });
  }

  private heldUntil(life: string): number | undefined {
    const { peerState: book, clock, hold } = this.options;
    const { known, heldUntil } = judgeIncarnation(book.incarnation, life, clock.now(), hold);
    // Remembered at once: the time runs from the first sight, over all sessions.
    const note = heldUntil === undefined ? undefined : book.recordIncarnation(known);
    if (note) void this.store.write([], [note]).catch((error: unknown) => this.failed(error));
    return heldUntil;
  }

  private releaseAt(until: number): void {
    this.release ??= this.options.clock.after(until - this.options.clock.now(), () => void this.releaseAll());
    this.look ??= this.lookLater();
  }

  /** The operator may have spoken to another replica. */
  private lookLater(): Timer {
    return this.options.clock.after(CONFIRMATION_POLL, () => {
      this.look = undefined;
      if (!this.pendingIncarnation()) return;
      this.look = this.lookLater();
      void this.checkConfirmation();
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
    const { peerState: book, clock } = this.options;
    if (this.closed) return;
    const known = life === undefined ? confirmIncarnation(book.incarnation) : { accepted: life };
    const gone = [...this.held.values()].flatMap((ids) => [...ids.values()]);
    const note = book.incarnationNote(known);
    this.release?.cancel();
    try {
      await this.store.write(gone.map(deletion), note ? [note] : []);
      book.recordIncarnation(known);
      this.setBack = undefined;
      this.held.clear();
      this.look?.cancel();
      this.release = this.look = undefined;
    } catch (error) {
      this.failed(error);
      if (!this.closed) this.release = clock.after(CONFIRMATION_POLL, () => void this.releaseAll(life));
    }
  }

  private notes(kind: string, { completed }: InboundChanges<CopyPut>, point: ResumePoint | undefined): readonly Note[] {
    if (!point) return [];
    const { peerState: book, clock, hold } = this.options;
    const now = clock.now();
    const verdict = judgeIncarnation(book.incarnation, this.lifeOf(point), now, hold);
    // What stood before a set-back can be resumed from no more: the numbers of the store are given anew.
    const notes = this.setBack === undefined ? [] : book.forgetPoints(this.setBack);
    const life = completed ? book.recordIncarnation(verdict.known) : undefined;
    if (life) notes.push(life);
    // While something is held the next session must see the whole state again.
    const moved = !completed && book.resumePoints().get(kind)?.view !== point.view && this.mayNoteView(now);
    const due = completed || moved || now - (this.noted.get(kind) ?? 0) >= POINT_PAUSE;
    if (!due || verdict.heldUntil !== undefined || this.heldOf(kind) > 0 || point.revision === 0) return notes;
    this.noted.set(kind, now);
    return [...notes, book.recordPoint(kind, point)];
  }

  private mayNoteView(now: number): boolean {
    if (now - this.viewsAt >= POINT_PAUSE) {
      this.viewsAt = now;
      this.views = 0;
    }
    return ++this.views <= VIEW_CHANGES;
  }
}

function deletion(id: Identity): SizedChange {
  return { change: { type: 'delete', id, expect: 'any' }, bytes: 0 };
}
