import { drawSchedule } from './mesh/draw-schedule';
import { World } from './mesh/world';
import { explain, explore } from './explore';

/** SIM_SCHEDULES, SIM_SECONDS and SIM_SEED ask for more, for longer, and for others. */
const range = {
  first: Number(process.env['SIM_SEED'] ?? 1),
  count: Number(process.env['SIM_SCHEDULES'] ?? 2_000),
  seconds: Number(process.env['SIM_SECONDS'] ?? 0),
};
const MINUTE = 60_000;

describe('a simulated mesh', () => {
  it(
    'keeps its invariants in every schedule',
    async () => {
      const started = Date.now();
      const { findings, schedules, commits, messages, hours } = await explore(range);
      const seconds = Math.round((Date.now() - started) / 1_000);
      console.log(
        `simulation: ${schedules} schedules from seed ${range.first} in ${seconds} s: ${commits} commits, ${messages} messages, ${hours.toFixed(0)} h of the mesh`,
      );
      for (const finding of findings) throw new Error(await explain(finding));
      expect(schedules).toBeGreaterThanOrEqual(range.count);
    },
    60 * MINUTE + range.seconds * 1_000,
  );

  it('does the same each time', async () => {
    for (const seed of [3, 5, 8]) {
      const [once, again] = [await new World(drawSchedule(seed)).run(), await new World(drawSchedule(seed)).run()];
      expect(again).toEqual(once);
    }
  });
});
