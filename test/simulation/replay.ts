import { explain } from './explore';
import { drawSchedule } from './mesh/draw-schedule';
import { describeSchedule } from './mesh/steps';
import { World } from './mesh/world';

/** Replays seeds and shrinks what fails: `node -r ./bench/register.cjs test/simulation/replay.ts SEED...`. */
async function main(): Promise<void> {
  for (const seed of process.argv.slice(2).map(Number)) {
    const schedule = drawSchedule(seed);
    const { violation } = await new World(schedule).run();
    if (violation) console.log(await explain(schedule));
    else console.log(`holds: ${describeSchedule(schedule)}`);
  }
}

void main();
