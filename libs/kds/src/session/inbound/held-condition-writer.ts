import {
  findCondition,
  identityKey,
  withCondition,
  withoutConditions,
  type Condition,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import { errorText, type Clock, type Logger } from '@causeway/runtime';
import { Fenced, type Change, type PatchChange, type IndexReader, type WriteResult } from '@causeway/store';
import { isOwnedByStream, SyncCondition, type Receiver } from '@causeway/sync';

/** Maximum number of conditions in one write. */
const MAX_BATCH = 500;

/** Begin and end of a copy's hold, ms since 1970. */
interface HoldPeriod {
  readonly since: number;
  readonly until: number;
}

/** Dependencies of writing the conditions. */
export interface HeldConditionOptions {
  /** Writes with the fence of this session or term. */
  readonly write: (changes: readonly Change[]) => Promise<WriteResult>;
  readonly index: IndexReader;
  readonly receiver: Receiver;
  /** Returns the hold of a resource; undefined if it is not held. */
  readonly holdPeriod: (resource: Resource) => HoldPeriod | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Writes the condition Held on copies that are kept although a pending incarnation lacks them, and removes it after the
 * hold. Runs beside the applier: no message waits for a condition. Level-based: callers only name the copies whose
 * condition may be wrong.
 */
export class HeldConditionWriter {
  private readonly stale = new Set<ResourceKey>();
  private readonly stopped = new AbortController();
  private working: Promise<void> = Promise.resolve();

  constructor(private readonly options: HeldConditionOptions) {}

  /** Returns the copies of a kind, owned by the stream, that have the condition; an earlier session may have written it. */
  markedCopies(kind: string): ResourceKey[] {
    const { index, receiver } = this.options;
    return [...index.ofKind(kind)]
      .filter((copy) => findCondition(copy.status, SyncCondition.held) && isOwnedByStream(copy, receiver))
      .map(({ id }) => identityKey(id));
  }

  /** Corrects the condition of these copies once the index has reached this revision. */
  enqueue(keys: Iterable<ResourceKey>, revision: number): void {
    for (const key of keys) this.stale.add(key);
    if (this.stale.size === 0 || this.stopped.signal.aborted) return;
    this.working = this.working.then(() => this.work(revision)).catch((error: unknown) => this.failed(error));
  }

  /** Resolves when no write is under way. */
  close(): Promise<void> {
    this.stopped.abort();
    return this.working;
  }

  private async work(after: number): Promise<void> {
    const { index, write } = this.options;
    for (let revision = after; this.stale.size > 0;) {
      await index.reached(revision, this.stopped.signal);
      const keys = [...this.stale].slice(0, MAX_BATCH);
      for (const key of keys) this.stale.delete(key);
      const changes = keys.flatMap((key) => this.patchFor(key) ?? []);
      if (changes.length === 0) continue;
      const result = await write(changes);
      revision = result.revision;
      changes.forEach(({ id }, i) => {
        const answer = result.results[i];
        if (answer?.type === 'refused' && answer.refusal === 'conflict') this.stale.add(identityKey(id));
      });
    }
  }

  private patchFor(key: ResourceKey): PatchChange | undefined {
    const { index, holdPeriod, receiver, clock } = this.options;
    const copy = index.byIdentityKey(key);
    return copy && planHeldCondition(copy, { time: holdPeriod(copy), receiver, now: clock.now() });
  }

  private failed(error: unknown): void {
    // The next session corrects the remaining conditions.
    if (error instanceof Fenced || this.stopped.signal.aborted) return;
    this.options.logger.warn('the condition Held could not be written', { error: errorText(error) });
  }
}

/** Returns the patch that corrects a copy's condition; undefined if the condition is right. */
function planHeldCondition(
  copy: Resource,
  { time, receiver, now }: { readonly time: HoldPeriod | undefined; readonly receiver: Receiver; readonly now: number },
): PatchChange | undefined {
  const before = copy.status ?? {};
  const status = time
    ? withCondition(before, heldCondition(copy, time, receiver), now)
    : withoutConditions(before, [SyncCondition.held]);
  return status === before ? undefined : { type: 'patch', id: copy.id, expect: copy.revision, status };
}

function heldCondition({ generation }: Resource, { since, until }: HoldPeriod, receiver: Receiver): Condition {
  const peer = receiver.role === 'global' ? `zone "${receiver.from}"` : 'the global';
  const [first, last] = [since, until].map((at) => new Date(at).toISOString());
  const message = `${peer} has begun a new incarnation, first seen at ${first}, that does not name it; it is kept until ${last}, or until the operator confirms that incarnation`;
  return {
    type: SyncCondition.held,
    status: 'True',
    reason: 'NewIncarnation',
    message,
    observedGeneration: generation,
  };
}
