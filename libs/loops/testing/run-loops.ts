import { LoopRunner, type RunnerOptions } from '../src/runner/loop-runner';
import type { ControlLoop } from '../src/runner/control-loop';

/** Runs `loops`, in the order of the list, for one term; resolves when the term has ended. */
export async function runLoops(loops: readonly ControlLoop[], options: RunnerOptions): Promise<void> {
  await new LoopRunner(loops, options).run();
}
