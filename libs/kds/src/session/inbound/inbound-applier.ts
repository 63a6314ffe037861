import type { Tracer } from '@causeway/runtime';
import type { MetadataEntry } from '@causeway/store';
import { compareOrders, identityKey, type Identity } from '@causeway/resources';
import type { InboundChanges, Rejection } from '@causeway/sync';
import type { ResumePoint } from '../peer-state';
import { PendingDeletion, type PendingDeletionOptions } from './pending-deletion';
import { BatchWriter, toDeletion, findCountedOrder, type FencedWrite, type SizedChange } from './batch-writer';
import type { CopyPut } from './decode-message';
import { traceCopies } from '../session-traces';

/** Minimum time between two writes of a kind's resume point, ms. A point may lag: resources that are sent again change nothing. */
const POINT_INTERVAL = 1_000;

/** Maximum number of immediate writes of points for changed rules of the peer within that time. */
const MAX_VIEW_WRITES = 10;

/** Dependencies of applying a peer's state. */
export interface InboundApplierOptions extends Omit<PendingDeletionOptions, 'batches' | 'write'> {
  /** Writes with the fence of this session or term. */
  readonly write: FencedWrite;
  /** Whether other peers are writing now: they would wait for a large batch. */
  readonly isShared: () => boolean;
  readonly tracer?: Tracer | undefined;
  /** Whether the peer supports receiving the creation orders that count (cw-order). */
  readonly sendsOrders: boolean;
}

/** A resource for which another creation order counts than the peer sent. */
export interface RaisedOrder {
  readonly id: Identity;
  readonly creationOrder: number;
}

/** The result of applying a message. */
export interface InboundResult {
  /** Resources that the store refused. */
  readonly refused: readonly Rejection[];
  /** Copies that the message created or updated. */
  readonly written: readonly CopyPut[];
  readonly raised: readonly RaisedOrder[];
}

/** Writes the changes of a peer's messages, with the resume point that each message reaches. */
export class InboundApplier {
  readonly pendingDeletion: PendingDeletion;
  private readonly batches: BatchWriter;
  /** The time at which its point was last written, by kind. */
  private readonly notedAt = new Map<string, number>();
  /** Writes of points for changed rules since `viewsAt`. */
  private views = 0;
  private viewsAt = 0;
  /**
   * By kind, the keys of resources whose origin still sends another order than the one that counts. While there are any, no
   * later resume point is written: an origin that missed an order then sends the resource again and gets the order again.
   */
  private readonly raised = new Map<string, Set<string>>();

  constructor(private readonly options: InboundApplierOptions) {
    const { write, isShared, ...rest } = options;
    this.batches = new BatchWriter(write, isShared);
    this.pendingDeletion = new PendingDeletion({
      ...rest,
      batches: this.batches,
      write: (changes) => write(changes, []),
    });
  }

  /**
   * Writes the changes of a message. `point` is the position that the peer's state reaches with it, if the peer names
   * one; `bytesOf` returns the size of a resource on the wire. Rejects as the store does.
   */
  async apply(
    kind: string,
    message: InboundChanges<CopyPut>,
    point: ResumePoint | undefined,
    bytesOf: (wireKey: string) => number,
  ): Promise<InboundResult> {
    const { pendingDeletion } = this;
    const changes = { ...message, puts: sortByCreation(message.puts) };
    await pendingDeletion.settled();
    const deleted = [...changes.removed, ...pendingDeletion.evaluate(kind, changes, point)];
    const unheld = pendingDeletion.unhold(kind, changes.puts);
    const copies = traceCopies(changes.puts, this.options);
    const puts = copies.puts.map(({ wireKey, content }): SizedChange => ({
      change: content,
      bytes: bytesOf(wireKey),
    }));
    const entries = this.entries(kind, changes, point);
    const results = await this.batches
      .write([...puts, ...deleted.map(toDeletion)], entries)
      .finally(() => copies.end());
    pendingDeletion.correctConditions(kind, unheld, changes.completed);
    const refused = changes.puts.flatMap(({ wireKey }, i) => {
      const result = results[i];
      // An older state is superseded, which is no error.
      if (result?.type !== 'refused' || result.refusal === 'older') return [];
      return [{ wireKey, reason: result.detail }];
    });
    const written = changes.puts.filter((_, i) => results[i]?.type === 'written').map(({ content }) => content);
    const raised = changes.puts.flatMap(({ id }, i): RaisedOrder[] => {
      const creationOrder = findCountedOrder(results[i]);
      return creationOrder === undefined ? [] : [{ id, creationOrder }];
    });
    if (this.options.sendsOrders) this.remember(kind, changes, raised);
    // Its point was not written.
    if (raised.length > 0) this.notedAt.delete(kind);
    return { refused, written, raised };
  }

  private remember(kind: string, changes: InboundChanges<CopyPut>, raised: readonly RaisedOrder[]): void {
    const known = this.raised.get(kind);
    if (!known && raised.length === 0) return;
    const keys = known ?? new Set<string>();
    if (known) for (const key of namedKeys(changes)) keys.delete(key);
    for (const { id } of raised) keys.add(identityKey(id));
    if (keys.size === 0) this.raised.delete(kind);
    else this.raised.set(kind, keys);
  }

  /** Returns whether, after a message is applied, the origin still sends another order than the one that counts. */
  private isRaisedBeside(kind: string, changes: InboundChanges<CopyPut>): boolean {
    const left = new Set(this.raised.get(kind));
    if (left.size > 0) for (const key of namedKeys(changes)) left.delete(key);
    return left.size > 0;
  }

  /** Resolves when no write outside `apply` is under way. */
  close(): Promise<void> {
    return this.pendingDeletion.close();
  }

  private entries(
    kind: string,
    changes: InboundChanges<CopyPut>,
    point: ResumePoint | undefined,
  ): readonly MetadataEntry[] {
    if (!point) return [];
    const { completed } = changes;
    const { pendingDeletion } = this;
    const { peerState, clock } = this.options;
    const now = clock.now();
    const evaluated = pendingDeletion.evaluatePoint(point);
    const entries = pendingDeletion.forgottenPoints();
    const incarnation = completed ? peerState.recordIncarnation(evaluated.known) : undefined;
    if (incarnation) entries.push(incarnation);
    const hasMoved = !completed && peerState.resumePoints().get(kind)?.view !== point.view && this.mayNoteView(now);
    const isDue = completed || hasMoved || now - (this.notedAt.get(kind) ?? 0) >= POINT_INTERVAL;
    // While resources are held, the next session must receive the full state again.
    if (!isDue || evaluated.heldUntil !== undefined || pendingDeletion.countKind(kind) > 0 || point.revision === 0)
      return entries;
    if (this.isRaisedBeside(kind, changes)) return entries;
    this.notedAt.set(kind, now);
    const reached = peerState.recordPoint(kind, point);
    return [...entries, this.options.sendsOrders ? { ...reached, unlessRaised: true } : reached];
  }

  private mayNoteView(now: number): boolean {
    if (now - this.viewsAt >= POINT_INTERVAL) {
      this.viewsAt = now;
      this.views = 0;
    }
    return ++this.views <= MAX_VIEW_WRITES;
  }
}

/** Yields the keys of the resources that a message names, or that its state lacks. */
/**
 * Returns the puts of a message from the oldest to the newest: those that are younger than they claim (docs/adr/0012-the-order-that-counts.md) are
 * counted in the order in which they are written.
 */
function sortByCreation(puts: InboundChanges<CopyPut>['puts']): InboundChanges<CopyPut>['puts'] {
  const order = ({ content }: (typeof puts)[number]): number => content.copy.creationOrder;
  return [...puts].sort((a, b) => compareOrders(order(a), order(b)));
}

function* namedKeys({ puts, removed, absent }: InboundChanges<CopyPut>): Iterable<string> {
  for (const { id } of puts) yield identityKey(id);
  for (const id of removed) yield identityKey(id);
  for (const id of absent) yield identityKey(id);
}
