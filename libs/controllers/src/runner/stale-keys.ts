import { identityKey, type Identity } from '@causeway/resources';
import type { Change, WriteResult } from '@causeway/store';

/** Keys that may be stale, each once. What was marked last is looked at first, each lot in the order of `compare`. */
export class StaleKeys {
  private readonly fresh = new Set<string>();
  private readonly queued = new Set<string>();
  /** The next key stands last. */
  private queue: string[] = [];

  constructor(private readonly compare: (a: string, b: string) => number) {}

  get size(): number {
    return this.fresh.size + this.queued.size;
  }

  add(key: string): void {
    this.fresh.add(key);
  }

  clear(): void {
    this.fresh.clear();
    this.queued.clear();
    this.queue = [];
  }

  /** Marks keys that stand in order already: many at once cost no comparison. */
  addOrdered(keys: readonly string[]): void {
    for (let i = keys.length - 1; i >= 0; i--) this.enqueueOne(keys[i]);
  }

  /** Takes the next key away; undefined when none is stale. */
  take(): string | undefined {
    if (this.fresh.size > 0) this.enqueue();
    for (let key = this.queue.pop(); key !== undefined; key = this.queue.pop()) {
      if (this.queued.delete(key)) return key;
    }
    return undefined;
  }

  private enqueue(): void {
    const lot = [...this.fresh].sort((a, b) => this.compare(b, a));
    this.fresh.clear();
    for (const key of lot) this.enqueueOne(key);
  }

  private enqueueOne(key: string | undefined): void {
    if (key === undefined) return;
    this.queued.add(key);
    this.queue.push(key);
  }
}

/** What a loop decided for stale keys, and whether some are left. */
export interface Decided {
  readonly changes: readonly Change[];
  readonly more: boolean;
}

/** Keys looked at in one plan; a hundred thousand at once would keep a leader from renewing its lease. */
const LOOKS = 5_000;

/** Decides for stale keys until there are `batch` changes or enough were looked at. */
export function decideStale(stale: StaleKeys, batch: number, decide: (key: string) => Change | undefined): Decided {
  const changes: Change[] = [];
  for (let looks = 0; looks < LOOKS && changes.length < batch; looks++) {
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
