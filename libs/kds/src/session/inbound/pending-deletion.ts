import { identityKey, type Identity, type ResourceKey } from '@causeway/resources';
import { errorText, type Timer } from '@causeway/runtime';
import { Fenced, type MetadataEntry } from '@causeway/store';
import { confirmIncarnation, decideIncarnation, rolledBackIncarnation, type InboundChanges } from '@causeway/sync';
import type { KumaIncarnation } from '../kuma-incarnation';
import type { ConfirmationListener, PeerState, ResumePoint } from '../peer-state';
import { toDeletion, type BatchWriter } from './batch-writer';
import type { CopyPut } from './decode-message';
import { HeldConditionWriter, type HeldConditionOptions } from './held-condition-writer';

/** Interval of the checks for a confirmation while resources are held, and of retries of a failed release, ms. */
const CONFIRMATION_POLL = 5_000;

/** Dependencies of holding back deletions. */
export interface PendingDeletionOptions extends Omit<HeldConditionOptions, 'holdPeriod'> {
  readonly batches: BatchWriter;
  readonly peerState: PeerState;
  /** Incarnation of a plain Kuma peer; absent for Causeway peers, whose state names it. */
  readonly kuma?: KumaIncarnation;
  /** Time for which deletions are held back after a new incarnation, ms. */
  readonly hold: number;
}

/**
 * Holds back the deletion of resources that the state of a not yet accepted incarnation lacks: until the operator
 * confirms the incarnation, `hold` has passed, or the peer names the resource again (docs/design.md §5 A new
 * incarnation is not a deletion either).
 */
export class PendingDeletion implements ConfirmationListener {
  /** By kind and identity key. */
  private readonly held = new Map<string, Map<ResourceKey, Identity>>();
  private release: Timer | undefined;
  private poll: Timer | undefined;
  /** The release under way. No message is applied meanwhile: the resources that it restores would be deleted. */
  private releasing: Promise<void> = Promise.resolve();
  /** An incarnation whose state on this stream is older than what was already applied of it. */
  private rolledBack: string | undefined;
  private closed = false;
  private readonly conditions: HeldConditionWriter;
  private readonly unsubscribe: readonly (() => void)[];

  constructor(private readonly options: PendingDeletionOptions) {
    const { peerState, kuma, hold } = options;
    this.conditions = new HeldConditionWriter({
      ...options,
      holdPeriod: ({ id }) => {
        const pending = this.held.get(id.kind)?.has(identityKey(id)) === true ? peerState.pending : undefined;
        return pending && { since: pending.since, until: pending.since + hold };
      },
    });
    const learnt = kuma?.onLearnt(() => void this.evaluateKuma());
    this.unsubscribe = [peerState.onConfirmed(this), ...(learnt ? [learnt] : [])];
  }

  /** Number of held resources of a kind. */
  countKind(kind: string): number {
    return this.held.get(kind)?.size ?? 0;
  }

  /** Resolves when no release is under way. */
  settled(): Promise<void> {
    return this.releasing;
  }

  /** Returns the absent resources of a message that must be deleted now, and holds the others. */
  evaluate(
    kind: string,
    { absent, completed }: Pick<InboundChanges<CopyPut>, 'absent' | 'completed'>,
    point: ResumePoint | undefined,
  ): readonly Identity[] {
    const { kuma, logger } = this.options;
    if (!completed || !(point ?? kuma)) return absent;
    if (point && this.isBehind(kind, point, absent)) this.rolledBack = point.incarnation;
    const incarnation = point ? this.getIncarnation(point) : kuma?.current;
    const until = incarnation === undefined ? Infinity : this.heldUntil(incarnation);
    if (until === undefined) return absent;
    this.held.set(kind, new Map(absent.map((id) => [identityKey(id), id])));
    if (absent.length > 0) {
      const end = until === Infinity ? {} : { until: new Date(until).toISOString() };
      const fields = { kind, absent: absent.length, ...end };
      logger.warn(
        'the peer may have begun a new incarnation that lacks some of its resources; they are kept for now',
        fields,
      );
    }
    if (until !== Infinity) this.releaseAt(until);
    return [];
  }

  /** Ends the hold of resources that the peer names again. Returns the identity keys of those that were held. */
  unhold(kind: string, named: readonly { readonly id: Identity }[]): ResourceKey[] {
    const held = this.held.get(kind);
    return held ? named.map(({ id }) => identityKey(id)).filter((key) => held.delete(key)) : [];
  }

  /** Corrects the Held condition of copies that were held and, after a complete state, of those that are held or marked as held. */
  correctConditions(kind: string, unheld: readonly ResourceKey[], completed: boolean): void {
    const all = completed ? [...this.conditions.markedCopies(kind), ...(this.held.get(kind)?.keys() ?? [])] : [];
    this.conditions.enqueue([...unheld, ...all], this.options.batches.revision);
  }

  /** Returns whether the state at a point counts as state of an accepted incarnation. */
  evaluatePoint(point: ResumePoint): ReturnType<typeof decideIncarnation> {
    const { peerState, clock, hold } = this.options;
    return decideIncarnation(peerState.incarnation, this.getIncarnation(point), clock.now(), hold);
  }

  /**
   * Returns metadata entries that delete the points of an incarnation that was rolled back: its store issues the same
   * revisions again for other state.
   */
  forgottenPoints(): MetadataEntry[] {
    return this.rolledBack === undefined ? [] : this.options.peerState.forgetPoints(this.rolledBack);
  }

  /** Deletes the held resources: the operator has confirmed the pending incarnation. Never rejects. */
  confirmed(): Promise<void> {
    return this.releaseAll();
  }

  failed(error: unknown): void {
    // The next session decides again.
    if (error instanceof Fenced) return;
    this.options.logger.warn('resources that a new incarnation lacks could not be deleted or held', {
      error: errorText(error),
    });
  }

  /** Resolves when no condition is being written. */
  close(): Promise<void> {
    this.closed = true;
    this.release?.cancel();
    this.poll?.cancel();
    for (const unsubscribe of this.unsubscribe) unsubscribe();
    return this.conditions.close();
  }

  /** Evaluates the state that waited until the incarnation of a plain Kuma peer became known. */
  private async evaluateKuma(): Promise<void> {
    const incarnation = this.options.kuma?.current;
    if (incarnation === undefined || this.closed) return;
    const until = this.heldUntil(incarnation);
    if (until === undefined) return this.releaseAll(incarnation);
    this.releaseAt(until);
    for (const held of this.held.values()) this.conditions.enqueue(held.keys(), this.options.batches.revision);
  }

  /**
   * Returns the incarnation that a state counts as. While a rolled-back store's absences are held, all its state counts
   * as an incarnation that is not accepted.
   */
  private getIncarnation({ incarnation }: ResumePoint): string {
    const rolledBack = rolledBackIncarnation(incarnation);
    const isPending = this.options.peerState.pending?.incarnation === rolledBack;
    return this.rolledBack === incarnation || isPending ? rolledBack : incarnation;
  }

  /**
   * Returns whether a complete state is older than what was applied of its incarnation. Then its store was rolled back
   * unnoticed: the absent resources were created after the backup, not deleted.
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

  private heldUntil(incarnation: string): number | undefined {
    const { peerState, clock, hold, batches } = this.options;
    const { known, heldUntil } = decideIncarnation(peerState.incarnation, incarnation, clock.now(), hold);
    // Written immediately: the hold runs from the first sight of the incarnation, across all sessions.
    const entry = heldUntil === undefined ? undefined : peerState.recordIncarnation(known);
    if (entry) void batches.write([], [entry]).catch((error: unknown) => this.failed(error));
    return heldUntil;
  }

  private releaseAt(until: number): void {
    const { clock } = this.options;
    this.release ??= clock.after(until - clock.now(), () => void this.releaseAll());
    this.poll ??= this.pollLater();
  }

  /** The operator may have confirmed on another replica. */
  private pollLater(): Timer {
    const { clock, peerState } = this.options;
    return clock.after(CONFIRMATION_POLL, () => {
      this.poll = undefined;
      if (!peerState.pending) return;
      this.poll = this.pollLater();
      void peerState.checkConfirmation();
    });
  }

  /** Deletes the held resources and accepts `incarnation`, else the pending one. */
  private releaseAll(incarnation?: string): Promise<void> {
    this.releasing = this.releasing.then(() => this.deleteHeld(incarnation));
    return this.releasing;
  }

  /** Never rejects: resources whose deletion fails stay held, and the deletion is retried. */
  private async deleteHeld(incarnation: string | undefined): Promise<void> {
    const { peerState, clock, batches } = this.options;
    if (this.closed) return;
    const known = incarnation === undefined ? confirmIncarnation(peerState.incarnation) : { accepted: incarnation };
    const deletions = [...this.held.values()].flatMap((ids) => [...ids.values()].map(toDeletion));
    const entry = peerState.incarnationEntry(known);
    this.release?.cancel();
    try {
      await batches.write(deletions, entry ? [entry] : []);
      peerState.recordIncarnation(known);
      this.rolledBack = undefined;
      this.held.clear();
      this.poll?.cancel();
      this.release = this.poll = undefined;
    } catch (error) {
      this.failed(error);
      if (!this.closed) this.release = clock.after(CONFIRMATION_POLL, () => void this.releaseAll(incarnation));
    }
  }
}
