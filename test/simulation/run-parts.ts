import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Range } from './explore';
import type { PartFound } from './run';

const ROOT = join(__dirname, '..', '..');

/** Runs the schedules of a range in several processes side by side. */
export async function runParts(range: Range, processes: number): Promise<PartFound> {
  const parts = Array.from({ length: processes }, (_, at) => {
    const { first, step, count, seconds } = range;
    return runPart({
      first: first + at * step,
      step: step * processes,
      count: Math.ceil(count / processes),
      seconds,
    });
  });
  return (await Promise.all(parts)).reduce((sum, part) => ({
    schedules: sum.schedules + part.schedules,
    commits: sum.commits + part.commits,
    messages: sum.messages + part.messages,
    hours: sum.hours + part.hours,
    seeds: [...sum.seeds, ...part.seeds],
  }));
}

function runPart({ first, count, step, seconds }: Range): Promise<PartFound> {
  const child = fork(join(__dirname, 'run.ts'), [first, count, step, seconds].map(String), {
    cwd: ROOT,
    // A schedule makes many objects that soon are garbage: with more room for the young, few live to be copied.
    execArgv: ['--max-semi-space-size=32', '-r', join(ROOT, 'bench', 'register.cjs')],
  });
  return new Promise((resolve, reject) => {
    child.once('message', (found: PartFound) => resolve(found));
    child.once('exit', (code) => reject(new Error(`a part of the simulation ended with ${code} and without a result`)));
  });
}
