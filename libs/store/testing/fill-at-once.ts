import type { FillRunner, Follower } from '../src/derived/derived-table';

/** Takes all steps at once. */
export const fillAtOnce: FillRunner = (steps) => {
  for (const _ of steps);
};

/** Returns a follower that notes what a table announces: changes, and 'reload'. */
export function noteInto(heard: unknown[]): Follower<unknown> {
  return { reload: () => heard.push('reload'), apply: (change) => heard.push(change) };
}
