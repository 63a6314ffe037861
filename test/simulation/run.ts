import { drawSchedule, EVERYTHING } from './mesh/draw-schedule';
import { describeSchedule } from './mesh/steps';
import { World } from './mesh/world';

/** Tries: node -r ./bench/register.cjs test/simulation/run.ts [first seed] [count]. */
async function main(): Promise<void> {
  const [first = 1, count = 20] = process.argv.slice(2).map(Number);
  const limits = process.env['SIM_CALM'] ? { mishaps: [], replicas: 1 } : EVERYTHING;
  const started = process.cpuUsage().user;
  let [steps, commits, messages] = [0, 0, 0];
  for (let seed = first; seed < first + count; seed++) {
    const schedule = drawSchedule(seed, limits);
    const outcome = await new World(schedule).run();
    steps += outcome.steps;
    commits += outcome.commits;
    messages += outcome.messages;
    if (outcome.violation) {
      console.log(describeSchedule(schedule));
      console.log(outcome.violation);
    }
    if (process.env['SIM_VERBOSE']) console.log(seed, JSON.stringify(outcome));
  }
  const ms = (process.cpuUsage().user - started) / 1000;
  console.log({
    count,
    msEach: ms / count,
    steps: steps / count,
    commits: commits / count,
    messages: messages / count,
  });
}

void main();
