import { identityKey } from '@causeway/resources';
import type { Change } from './resource-store';

/** Changes of different identities, with their places in the request. */
export interface Round {
  readonly changes: readonly { readonly change: Change; readonly at: number }[];
  readonly next: () => Round | undefined;
}

/**
 * The changes of a write in rounds: the first change of every identity, then the second of those that have one, and
 * so on. Within a round changes do not see each other, so a store can apply it as one set; almost every write is one
 * round.
 */
export function nextRound(changes: readonly Change[]): Round | undefined {
  return roundOf(changes.map((change, at) => ({ change, at })));
}

function roundOf(changes: Round['changes']): Round | undefined {
  if (changes.length === 0) return undefined;
  const seen = new Set<string>();
  const [now, later]: [Round['changes'][number][], Round['changes'][number][]] = [[], []];
  for (const entry of changes) {
    const key = identityKey(entry.change.id);
    (seen.has(key) ? later : now).push(entry);
    seen.add(key);
  }
  return { changes: now, next: () => roundOf(later) };
}
