import { fuzzSeed } from '../support/fuzz-seed';
import { explain, explore } from './explore';
import { KNOWN_FAULTS } from './fault/faults';
import { drawSchedule } from './mesh/draw-schedule';
import { World } from './mesh/world';

/** Schedules that found bugs, which are fixed: they run each time. */
const FOUND = [93, 718, 90_100, 880_852_071, 1_305_126_788, 1_445_463_412, 2_068_946_346, 2_106_724_726];

/** Number of schedules drawn here; simulation.long.spec.ts draws 600 and more. */
const DRAWN = 8;

describe('a simulated mesh', () => {
  it.each(FOUND)('keeps its invariants in the schedule of seed %i', async (seed) => {
    expect((await new World(drawSchedule(seed)).run()).violation).toBeUndefined();
  });

  it('keeps its invariants in the schedule of seed 718, where every watch is 1.5 s behind', async () => {
    const { violation } = await new World(drawSchedule(718), { store: { lag: 1_500 } }).run();
    expect(violation).toBeUndefined();
  });

  it(`keeps its invariants in ${DRAWN} schedules that are drawn`, async () => {
    const range = { first: fuzzSeed('simulation'), step: 1, count: DRAWN, seconds: 0 };
    const { findings, schedules } = await explore(range);
    for (const { schedule } of findings) throw new Error(await explain(schedule));
    expect(schedules).toBe(DRAWN);
  });

  it('does the same each time', async () => {
    for (const seed of [3, 5, 8]) {
      const [once, again] = [await new World(drawSchedule(seed)).run(), await new World(drawSchedule(seed)).run()];
      expect(again).toEqual(once);
    }
  });

  it('breaks an invariant where sessions are not checked (known-faults.long.spec.ts has all faults)', async () => {
    const fault = KNOWN_FAULTS.find(({ name }) => name === 'no-session');
    if (!fault) throw new Error('no such fault');
    const { findings } = await explore({ first: fault.seed, step: 1, count: 1, seconds: 0 }, fault.faults);
    expect(findings.map(({ violation: { invariant } }) => invariant)).toEqual(['I7']);
  });
});
