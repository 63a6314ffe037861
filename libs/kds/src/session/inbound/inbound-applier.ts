import type { Tracer } from '@causeway/runtime';
import type { Note } from '@causeway/store';
import type { InboundChanges, Rejection } from '@causeway/sync';
import type { ResumePoint } from '../peer-state';
import { AbsenceHold, type AbsenceHoldOptions } from './absence-hold';
import { BatchWriter, deletion, type FencedWrite, type SizedChange } from './batch-writer';
import type { CopyPut } from './decode-message';
import { tracedCopies } from '../session-traces';

/** Least time between two notes of a kind's resume point, ms. A point may lag: what is sent again changes nothing. */
const POINT_INTERVAL = 1_000;

/** How many changed rules of the peer are noted at once within that time, so that a session resumes by them. */
const VIEW_CHANGES = 10;

/** What applying a peer's state depends on. */
export interface InboundApplierOptions extends Omit<AbsenceHoldOptions, 'batches' | 'write'> {
  /** Writes with the fence of this session or term. */
  readonly write: FencedWrite;
  /** Whether other peers write at this time, who would wait for a large batch. */
  readonly isShared: () => boolean;
  readonly tracer?: Tracer | undefined;
}

/** The outcome of a message's resources. */
export interface ApplyResult {
  /** Resources that the store refused. */
  readonly refused: readonly Rejection[];
  /** Copies that the message changed. */
  readonly written: readonly CopyPut[];
}

/** Writes the changes of a peer's messages, with the resume point that each reaches. */
export class InboundApplier {
  readonly absences: AbsenceHold;
  private readonly batches: BatchWriter;
  /** By kind: when its point was noted last. */
  private readonly notedAt = new Map<string, number>();
  /** Notes of changed rules since `viewsAt`. */
  private views = 0;
  private viewsAt = 0;

  constructor(private readonly options: InboundApplierOptions) {
    const { write, isShared, ...rest } = options;
    this.batches = new BatchWriter(write, isShared);
    this.absences = new AbsenceHold({ ...rest, batches: this.batches, write: (changes) => write(changes, []) });
  }

  /**
   * Writes what a message changes. `point` is the position of the peer's state with this message, where the peer names
   * one; `bytesOf` is the size of a resource on the wire. Rejects as the store does.
   */
  async apply(
    kind: string,
    changes: InboundChanges<CopyPut>,
    point: ResumePoint | undefined,
    bytesOf: (wireKey: string) => number,
  ): Promise<ApplyResult> {
    const { absences } = this;
    await absences.settled();
    const deleted = [...changes.removed, ...absences.judge(kind, changes, point)];
    const unheld = absences.unhold(kind, changes.puts);
    const copies = tracedCopies(changes.puts, this.options);
    const puts = copies.puts.map(({ wireKey, content }): SizedChange => ({
      change: content,
      bytes: bytesOf(wireKey),
    }));
    const notes = this.notes(kind, changes.completed, point);
    const results = await this.batches.write([...puts, ...deleted.map(deletion)], notes).finally(() => copies.end());
    absences.correctConditions(kind, unheld, changes.completed);
    const refused = changes.puts.flatMap(({ wireKey }, i) => {
      const result = results[i];
      // An older state is superseded, which is no fault.
      if (result?.type !== 'refused' || result.refusal === 'older') return [];
      return [{ wireKey, reason: result.detail }];
    });
    const written = changes.puts.filter((_, i) => results[i]?.type === 'written').map(({ content }) => content);
    return { refused, written };
  }

  /** Resolves when nothing is being written beside `apply`. */
  close(): Promise<void> {
    return this.absences.close();
  }

  private notes(kind: string, completed: boolean, point: ResumePoint | undefined): readonly Note[] {
    if (!point) return [];
    const { absences } = this;
    const { peerState, clock } = this.options;
    const now = clock.now();
    const verdict = absences.verdictOn(point);
    const notes = absences.forgottenPoints();
    const incarnation = completed ? peerState.recordIncarnation(verdict.known) : undefined;
    if (incarnation) notes.push(incarnation);
    const hasMoved = !completed && peerState.resumePoints().get(kind)?.view !== point.view && this.mayNoteView(now);
    const isDue = completed || hasMoved || now - (this.notedAt.get(kind) ?? 0) >= POINT_INTERVAL;
    // While something is held the next session must see the whole state again.
    if (!isDue || verdict.heldUntil !== undefined || absences.countOf(kind) > 0 || point.revision === 0) return notes;
    this.notedAt.set(kind, now);
    return [...notes, peerState.recordPoint(kind, point)];
  }

  private mayNoteView(now: number): boolean {
    if (now - this.viewsAt >= POINT_INTERVAL) {
      this.viewsAt = now;
      this.views = 0;
    }
    return ++this.views <= VIEW_CHANGES;
  }
}
