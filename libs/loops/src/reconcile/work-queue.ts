import { identityKey, type Identity, type ResourceKey } from '@causeway/resources';
import { SLICE } from '@causeway/runtime';
import type { Change, WriteResult } from '@causeway/store';

/** A batch of keys that are taken one after the other. */
interface KeyBatch<K> {
  /** Once sorted, the next one is last. */
  readonly keys: K[];
  sorted: boolean;
}

/**
 * Keys of resources that a loop must reconcile, each key once. The keys added since the last `take` come before those added earlier; together they
 * are taken in the order of `compare`, or as they were added without it. Very many keys are sorted in several batches, in the order in which they
 * were added: one long sort would block the event loop.
 */
export class WorkQueue<K extends string = ResourceKey> {
  private readonly queued = new Set<K>();
  /** Keys added since the last `take`. */
  private unsorted: K[] = [];
  /** The next one is last. */
  private batches: KeyBatch<K>[] = [];

  constructor(private readonly compare?: (a: K, b: K) => number) {}

  get size(): number {
    return this.queued.size;
  }

  /** Adds a key; one that is already queued moves to the front with the other new ones. */
  add(key: K): void {
    this.queued.add(key);
    this.unsorted.push(key);
  }

  clear(): void {
    this.queued.clear();
    this.unsorted = [];
    this.batches = [];
  }

  /** Adds keys that are sorted already: one batch of any size. */
  addSorted(keys: readonly K[]): void {
    for (const key of keys) this.queued.add(key);
    this.batches.push({ keys: [...keys].reverse(), sorted: true });
  }

  /** Removes and returns the next key; undefined when the queue is empty. */
  take(): K | undefined {
    if (this.unsorted.length > 0) this.batchUnsorted();
    for (let batch = this.batches.at(-1); batch; batch = this.batches.at(-1)) {
      if (!batch.sorted) this.sort(batch);
      const key = batch.keys.pop();
      if (key === undefined) this.batches.pop();
      else if (this.queued.delete(key)) return key;
    }
    return undefined;
  }

  private sort(batch: KeyBatch<K>): void {
    const { compare } = this;
    if (compare) batch.keys.sort((a, b) => compare(b, a));
    else batch.keys.reverse();
    batch.sorted = true;
  }

  private batchUnsorted(): void {
    const keys = this.unsorted;
    this.unsorted = [];
    while (keys.length > 0) {
      const start = Math.floor((keys.length - 1) / SLICE) * SLICE;
      this.batches.push({ keys: keys.splice(start), sorted: false });
    }
  }
}

/** The changes decided for some keys; `more`: the queue is not empty. */
export interface BatchPlan {
  readonly changes: readonly Change[];
  readonly more: boolean;
}

/** Limits of one plan: a plan over a hundred thousand keys would keep a leader from renewing its lease. */
export interface BatchLimits {
  readonly changes: number;
  /** Maximum number of keys taken from the queue; default 5,000. */
  readonly keys?: number;
}

/** Takes keys from the queue and decides for each, until a limit is reached or the queue is empty. */
export function planBatch<K extends string>(
  queue: WorkQueue<K>,
  { changes: maxChanges, keys: maxKeys = 5_000 }: BatchLimits,
  decide: (key: K) => Change | undefined,
): BatchPlan {
  const changes: Change[] = [];
  for (let keys = 0; keys < maxKeys && changes.length < maxChanges; keys++) {
    const key = queue.take();
    if (key === undefined) break;
    const change = decide(key);
    if (change) changes.push(change);
  }
  return { changes, more: queue.size > 0 };
}

/** Returns the identities whose change was refused and may be accepted on a retry; `unstorable` changes never are. */
function refusedIdentities(changes: readonly Change[], result: WriteResult): readonly Identity[] {
  return changes.flatMap((change, i) => {
    const answer = result.results[i];
    return answer?.type === 'refused' && answer.refusal !== 'unstorable' ? [change.id] : [];
  });
}

/** Returns `refusedIdentities` as index keys. */
export function refusedKeys(changes: readonly Change[], result: WriteResult): readonly ResourceKey[] {
  return refusedIdentities(changes, result).map(identityKey);
}
