import { identityKey, type Identity } from '@causeway/resources';
import { SLICE } from '@causeway/runtime';
import type { Change, WriteResult } from '@causeway/store';

interface KeyBatch {
  /** The next one last, once sorted. */
  readonly keys: string[];
  sorted: boolean;
}

/**
 * Keys that may be stale, each once. What was marked last is looked at first, each lot in the order of `compare`; many
 * keys at once are several lots in the order in which they were marked, for one long sort would hold the event loop.
 */
export class WorkQueue {
  private readonly queued = new Set<string>();
  /** Marked since the last was taken; they wait to be put into lots. */
  private unsorted: string[] = [];
  /** The next one last. */
  private batches: KeyBatch[] = [];

  constructor(private readonly compare: (a: string, b: string) => number) {}

  get size(): number {
    return this.queued.size;
  }

  add(key: string): void {
    this.queued.add(key);
    this.unsorted.push(key);
  }

  clear(): void {
    this.queued.clear();
    this.unsorted = [];
    this.batches = [];
  }

  /** Marks keys that stand in order already, however many: they are one lot. */
  addSorted(keys: readonly string[]): void {
    for (const key of keys) this.queued.add(key);
    this.batches.push({ keys: [...keys].reverse(), sorted: true });
  }

  /** Takes the next key away; undefined when none is stale. */
  take(): string | undefined {
    if (this.unsorted.length > 0) this.batchUnsorted();
    for (let lot = this.batches.at(-1); lot; lot = this.batches.at(-1)) {
      if (!lot.sorted) lot.keys.sort((a, b) => this.compare(b, a));
      lot.sorted = true;
      const key = lot.keys.pop();
      if (key === undefined) this.batches.pop();
      else if (this.queued.delete(key)) return key;
    }
    return undefined;
  }

  private batchUnsorted(): void {
    const keys = this.unsorted;
    this.unsorted = [];
    while (keys.length > 0) {
      const rest = Math.floor((keys.length - 1) / SLICE) * SLICE;
      this.batches.push({ keys: keys.splice(rest), sorted: false });
    }
  }
}

/** What a loop decided for stale keys, and whether some are left. */
export interface BatchPlan {
  readonly changes: readonly Change[];
  readonly more: boolean;
}

/** What one plan takes on: a hundred thousand keys at once would keep a leader from renewing its lease. */
export interface BatchLimits {
  readonly changes: number;
  /** Keys looked at, 5,000 unless given; more where a look costs little. */
  readonly keys?: number;
}

/** Decides for stale keys until there are changes enough or enough were looked at. */
export function planBatch(
  stale: WorkQueue,
  { changes: batch, keys: most = 5_000 }: BatchLimits,
  decide: (key: string) => Change | undefined,
): BatchPlan {
  const changes: Change[] = [];
  for (let looks = 0; looks < most && changes.length < batch; looks++) {
    const key = stale.take();
    if (key === undefined) break;
    const change = decide(key);
    if (change) changes.push(change);
  }
  return { changes, more: stale.size > 0 };
}

/** The identities whose change was refused for what may have passed at the next try; `unstorable` never passes. */
export function refusedIdentities(changes: readonly Change[], result: WriteResult): readonly Identity[] {
  return changes.flatMap((change, i) => {
    const answer = result.results[i];
    return answer?.type === 'refused' && answer.refusal !== 'unstorable' ? [change.id] : [];
  });
}

/** `refusedIdentities` as index keys. */
export function refusedKeys(changes: readonly Change[], result: WriteResult): readonly string[] {
  return refusedIdentities(changes, result).map(identityKey);
}
