import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Climb } from './climb';
import type { Part, Told } from './climber';

const ROOT = join(__dirname, '..', '..');

/** No climb takes so long, on a busy machine either: an input that does was never going to end, ms. */
const ENDLESS = 180_000;

/** A course, or a part of it by name. */
type Course = Omit<Part, 'first' | 'step' | 'alone'>;

/** Result of climbing a course. */
export interface Outcome {
  readonly climbs: readonly Climb[];
  /** Inputs that held a process until it was killed. */
  readonly endless: readonly { readonly entry: string; readonly shape: string }[];
  /** Whether every pair had its turn. */
  readonly all: boolean;
}

/**
 * Climbs the course in several processes; a process that an input holds for ever is replaced. A super-linear result counts only if it repeats in a
 * fresh process: V8 may optimise and discard code in the middle of a climb.
 */
export async function climbAll(task: Course, processes: number): Promise<Outcome> {
  const { climbs, ...outcome } = await climbParts(task, processes);
  const judged: Climb[] = [];
  for (const climb of climbs) judged.push(climb.superLinear ? await climbedAlone(climb, task) : climb);
  return { ...outcome, climbs: judged };
}

/** The same climb in a fresh process; the first one where that one did not end. */
async function climbedAlone(climb: Climb, task: Course): Promise<Climb> {
  const { climbs } = await climbPart({ ...task, until: Date.now() + ENDLESS, alone: climb, first: 0, step: 1 });
  return climbs[0] ?? climb;
}

async function climbParts(task: Course, processes: number): Promise<Outcome> {
  const parts = await Promise.all(
    Array.from({ length: processes }, (_, first) => climbPart({ ...task, first, step: processes })),
  );
  return {
    climbs: parts.flatMap((part) => part.climbs),
    endless: parts.flatMap((part) => part.endless),
    all: parts.every((part) => part.all),
  };
}

async function climbPart(task: Part): Promise<Outcome> {
  const part = await climbOnce(task);
  if (part.heldAt === undefined) return part;
  const rest = await climbPart({ ...task, first: part.heldAt + task.step });
  return {
    climbs: [...part.climbs, ...rest.climbs],
    endless: [...part.endless, ...rest.endless],
    all: rest.all,
  };
}

function climbOnce(task: Part): Promise<Outcome & { readonly heldAt?: number }> {
  // Room for the young: what a small input leaves is not collected either, so a large one must not pay for it.
  const execArgv = [
    '--expose-gc',
    '--min-semi-space-size=128',
    '--max-semi-space-size=128',
    '-r',
    join(ROOT, 'bench', 'register.cjs'),
  ];
  const child = fork(join(__dirname, 'climber.ts'), [JSON.stringify(task)], { cwd: ROOT, execArgv });
  const climbs: Climb[] = [];
  let under: Extract<Told, { type: 'begins' }> | undefined;
  let done: Extract<Told, { type: 'done' }> | undefined;
  return new Promise((resolve, reject) => {
    const kill = (): void => void child.kill('SIGKILL');
    let watch = setTimeout(kill, ENDLESS);
    child.on('message', (told: Told) => {
      clearTimeout(watch);
      watch = setTimeout(kill, ENDLESS);
      if (told.type === 'begins') under = told;
      else if (told.type === 'ends') climbs.push(told.climb);
      else done = told;
    });
    child.once('exit', (code, signal) => {
      clearTimeout(watch);
      if (done) return resolve({ climbs, endless: [], all: done.all });
      if (signal === 'SIGKILL' && under) return resolve({ climbs, endless: [under], all: false, heldAt: under.at });
      reject(new Error(`a process that measures ended with ${code ?? signal} at ${under?.entry}: ${under?.shape}`));
    });
  });
}
