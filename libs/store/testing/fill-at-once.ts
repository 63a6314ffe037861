import type { FillRunner, Follower } from '../src/derived/derived-table';

/** Runs all steps at once. */
export const fillAtOnce: FillRunner = (steps) => {
  for (const _ of steps);
};

/** Returns a follower that records the announcements of a table: changes, and 'reload'. */
export function noteInto(heard: unknown[]): Follower<unknown> {
  return { reload: () => heard.push('reload'), apply: (change) => heard.push(change) };
}
