import { explore, type Exploration } from './explore';

/** Findings of a part of an exploration, as they cross from one process to another. */
export interface PartFound extends Omit<Exploration, 'findings'> {
  readonly seeds: readonly number[];
}

/**
 * Runs schedules in a process of its own, which is several times as fast as inside a test:
 * `node -r ./bench/register.cjs test/simulation/run.ts [first seed] [count] [step] [seconds]`.
 */
async function main(): Promise<void> {
  const [first = 1, count = 100, step = 1, seconds = 0] = process.argv.slice(2).map(Number);
  process.once('disconnect', () => process.exit()); // the parent is gone
  const { findings, ...counts } = await explore({ first, count, step, seconds });
  const found: PartFound = { ...counts, seeds: findings.map(({ schedule }) => schedule.seed) };
  if (process.send) process.send(found, () => process.disconnect());
  else console.log(found);
}

void main();
