import { leastCpu } from './cpu';
import type { EntryPoint, Shape } from './entry-point';

/** CPU time at one size. */
interface Step {
  readonly size: number;
  readonly ms: number;
}

/** Result of growing one shape. */
export interface Climb {
  readonly entry: string;
  readonly shape: string;
  readonly steps: readonly Step[];
  /** Exponent of the growth over the last two doublings; absent where all of it is below the floor. */
  readonly growth: number | undefined;
  /** True when the growth was confirmed by the least of five: cost grows faster than size. */
  readonly superLinear: boolean;
}

/** Thresholds for costs. */
export interface Judging {
  /** Times below it are noise, ms. */
  readonly floor: number;
  /** Largest exponent of growth that counts as linear: caches and garbage make large inputs a little dearer. */
  readonly exponent: number;
  /** No size above the first that takes so long is tried, ms. */
  readonly tooLong: number;
}

const JUDGING: Judging = { floor: 4, exponent: 1.35, tooLong: 3_000 };

const SMALLEST = 256;
const MOST_STEPS = 9;
const CONFIRMED_BY = 5;

/** Grows one shape from small to the largest that the entry point accepts, doubling; stops if it is super-linear. */
export async function climb(entry: EntryPoint, shape: Shape, judging: Judging = JUDGING): Promise<Climb> {
  const sizes = sizesUpTo(entry.largest);
  const steps: Step[] = [];
  let superLinear = false;
  for (const [at, size] of sizes.entries()) {
    steps.push({ size, ms: await screened(shape, size, judging) });
    superLinear = isSteep(steps, judging) && (await isConfirmed(shape, { sizes, at, steps }, judging));
    if (superLinear || (steps.at(-1)?.ms ?? 0) > judging.tooLong) break;
  }
  return {
    entry: entry.name,
    shape: shape.name,
    steps,
    growth: growthOf(upToLongest(steps), judging.floor),
    superLinear,
  };
}

/** Measures the last sizes again, five times each, and takes the least. */
async function remeasured(shape: Shape, steps: readonly Step[]): Promise<Step[]> {
  const again: Step[] = [];
  for (const { size } of steps) again.push({ size, ms: await leastCpu(shape.prepare(size), CONFIRMED_BY) });
  return again;
}

async function screened(shape: Shape, size: number, { floor }: Judging): Promise<number> {
  const work = shape.prepare(size);
  const first = await leastCpu(work, 1);
  return first > floor ? first : Math.min(first, await leastCpu(work, 1));
}

/** The least of five is steep as well, and so it stays at the next size (at the largest: when measured once more). */
async function isConfirmed(
  shape: Shape,
  { sizes, at, steps }: { readonly sizes: readonly number[]; readonly at: number; readonly steps: Step[] },
  judging: Judging,
): Promise<boolean> {
  steps.splice(-3, 3, ...(await remeasured(shape, steps.slice(-3))));
  if (!isSteep(steps, judging)) return false;
  const next = sizes[at + 1];
  const last = next === undefined ? steps.slice(-3) : [...steps.slice(-2), { size: next, ms: 0 }];
  return isSteep(await remeasured(shape, last), judging);
}

/** Doubled sizes of which the last is exactly `largest`. */
export function sizesUpTo(largest: number): readonly number[] {
  const sizes: number[] = [];
  for (
    let size = largest;
    (size >= SMALLEST && sizes.length < MOST_STEPS) || sizes.length < 3;
    size = Math.floor(size / 2)
  )
    sizes.unshift(size);
  return sizes;
}

/** Both doublings must be steep: one step up is a table that grew or memory that moved. */
function isSteep(steps: readonly Step[], { floor, exponent }: Judging): boolean {
  const [a, b, c] = steps.slice(-3);
  if (!a || !b || !c || c.ms < floor) return false;
  const each = 2 ** ((1 + exponent) / 2);
  return exponentOf(a, c) > exponent && c.ms / b.ms > each && b.ms / Math.max(a.ms, 0.01) > each;
}

/** Inputs beyond a bound are refused early: the longest hold is just below it. */
function upToLongest(steps: readonly Step[]): readonly Step[] {
  const longest = Math.max(...steps.map(({ ms }) => ms));
  return steps.slice(0, steps.findIndex(({ ms }) => ms === longest) + 1);
}

/** Returns the exponent over the last two doublings; undefined if they stay below the floor. */
function growthOf(steps: readonly Step[], floor: number): number | undefined {
  const [a, , c] = steps.slice(-3);
  return a && c && c.ms >= floor ? exponentOf(a, c) : undefined;
}

function exponentOf(small: Step, large: Step): number {
  return Math.log2(large.ms / Math.max(small.ms, 0.01)) / Math.log2(large.size / small.size);
}
