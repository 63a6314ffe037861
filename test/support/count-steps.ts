const SETS = [Set.prototype, Map.prototype];
const WALKS = [Symbol.iterator, 'keys', 'values', 'entries'] as const;

/** Counts the steps through all sets and maps while `work` runs. */
export function countSteps(work: () => void): number {
  let steps = 0;
  const kept = SETS.flatMap((of) =>
    WALKS.map((walk) => ({ of, walk, was: Object.getOwnPropertyDescriptor(of, walk) })),
  );
  for (const { of, walk, was } of kept) {
    const original: unknown = was?.value;
    if (typeof original !== 'function') continue;
    const counted = function (this: unknown): unknown {
      const walked: unknown = Reflect.apply(original, this, []);
      const next: unknown = Reflect.get(Object(walked), 'next');
      if (typeof next !== 'function') return walked;
      return Object.assign(Object.create(Object(walked)), {
        next: (): unknown => {
          steps += 1;
          return Reflect.apply(next, walked, []);
        },
        [Symbol.iterator](): unknown {
          return this;
        },
      });
    };
    Object.defineProperty(of, walk, { ...was, value: counted });
  }
  try {
    work();
  } finally {
    for (const { of, walk, was } of kept) if (was) Object.defineProperty(of, walk, was);
  }
  return steps;
}
