import { Prng } from '../simulation/engine/prng';
import type { EntryPoint, Shape } from './entry-point';
import { EXAMPLES } from './examples';

/** One shape for one entry point. */
export interface Pair {
  readonly entry: EntryPoint;
  readonly shape: Shape;
}

/**
 * All pairs in the order in which they are tried: first the examples, then every entry point has its turn before one has its next, and the seed
 * shuffles the shapes of each, so that a run that ends early has tried something of everything.
 */
export function courseOf(entries: readonly EntryPoint[], seed: number): readonly Pair[] {
  const draw = new Prng(seed).fork('course');
  const decks = entries.map((entry) => ({ entry, shapes: shuffled(entry.shapes, draw.fork(entry.name)) }));
  const rounds = Math.max(0, ...decks.map(({ shapes }) => shapes.length));
  const drawn = Array.from({ length: rounds }, (_, round) =>
    decks.flatMap(({ entry, shapes }) => {
      const shape = shapes[round];
      return shape ? [{ entry, shape }] : [];
    }),
  ).flat();
  const isExample = ({ entry, shape }: Pair): boolean =>
    EXAMPLES.some(([entryName, shapeName]) => entryName === entry.name && shapeName === shape.name);
  return [...drawn.filter(isExample), ...drawn.filter((pair) => !isExample(pair))];
}

/** Returns the place of the pair with which the last entry point has its first turn; -1 if there is none. */
export function lastFirstTurn(course: readonly Pair[]): number {
  const first = new Map<string, number>();
  for (const [at, { entry }] of course.entries()) if (!first.has(entry.name)) first.set(entry.name, at);
  return Math.max(-1, ...first.values());
}

function shuffled<T>(items: readonly T[], draw: Prng): readonly T[] {
  return items
    .map((item) => [draw.next(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}
