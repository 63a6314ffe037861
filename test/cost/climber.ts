import { climb, type Climb } from './climb';
import { courseOf, lastFirstTurn } from './course';
import { entryPoints } from './entries/entry-points';

/** The part of the course that a process climbs. */
export interface Part {
  readonly seed: number;
  /** Every `step`-th pair from `first`. */
  readonly first: number;
  readonly step: number;
  /** Ends at this time (Date.now()), but not before every entry point has had its turn. */
  readonly until: number;
  /** Only entry points whose name contains it. */
  readonly only: string;
  /** This pair alone. */
  readonly alone?: { readonly entry: string; readonly shape: string };
}

/** Messages of a climbing process. */
export type Told =
  | { readonly type: 'begins'; readonly at: number; readonly entry: string; readonly shape: string }
  | { readonly type: 'ends'; readonly climb: Climb }
  | { readonly type: 'done'; readonly all: boolean };

/** After this many findings an entry point is skipped: the findings must be fixed first. */
const ENOUGH = 6;

async function main(task: Part): Promise<void> {
  const entries = entryPoints(task.seed).filter(({ name }) => name.includes(task.only));
  const { alone } = task;
  const course = courseOf(entries, task.seed).filter(
    ({ entry, shape }) => !alone || (entry.name === alone.entry && shape.name === alone.shape),
  );
  const everyone = lastFirstTurn(course);
  const found = new Map<string, number>();
  for (let at = task.first; at < course.length; at += task.step) {
    const pair = course[at];
    if (!pair || (found.get(pair.entry.name) ?? 0) >= ENOUGH) continue;
    if (Date.now() > task.until && at > everyone) return tell({ type: 'done', all: false });
    await tell({ type: 'begins', at, entry: pair.entry.name, shape: pair.shape.name });
    const result = await climb(pair.entry, pair.shape);
    if (result.superLinear) found.set(pair.entry.name, (found.get(pair.entry.name) ?? 0) + 1);
    await tell({ type: 'ends', climb: result });
  }
  await tell({ type: 'done', all: true });
}

/** Resolves in a later turn of the loop, when the message has left: the next work may hold this process for long. */
async function tell(told: Told): Promise<void> {
  await new Promise((resolve) => process.send?.(told, undefined, {}, resolve));
  await new Promise((resolve) => setImmediate(resolve));
}

const parsed: Part = JSON.parse(process.argv[2] ?? '{}');
main(parsed).then(
  () => process.disconnect(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
