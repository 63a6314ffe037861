import { explain, explore } from './explore';
import { forgedAge, KNOWN_FAULTS } from './fault/faults';

const MINUTE = 60_000;

describe('the simulation', () => {
  it.each(KNOWN_FAULTS.map(({ name, seed, faults }) => [name, seed, faults] as const))(
    'finds the fault %s',
    async (_, seed, faults) => {
      const { findings, schedules } = await explore({ first: seed, step: 1, count: 500, seconds: 0 }, faults);
      expect(findings).toHaveLength(1);
      expect(schedules).toBeLessThanOrEqual(500);
    },
    5 * MINUTE,
  );

  it(
    'finds no forged age on the global where zones only say it: there it does not count',
    async () => {
      const range = { first: 1, step: 1, count: 20, seconds: 0 };
      const { findings } = await explore(range, { network: { message: forgedAge } }, Infinity);
      // The zones do not report what they hold, so each may take itself for younger than all others do.
      const believed = findings.filter(({ violation: { detail } }) => detail.includes('counts as made at'));
      expect(believed).toEqual([]);
    },
    5 * MINUTE,
  );

  it(
    'shrinks what it found to what it takes',
    async () => {
      const fault = KNOWN_FAULTS.find(({ name }) => name === 'rest-in-memory');
      const { findings } = await explore({ first: 1, step: 1, count: 500, seconds: 0 }, fault?.faults);
      for (const finding of findings) {
        const lines = (await explain(finding.schedule, fault?.faults)).split('\n');
        expect(lines[0]).toMatch(/^I[12]: /);
        // The mesh, and at most: services until a small range runs out, one of them written twice, so that it comes in time, one deleted, a kill.
        expect(lines.length).toBeLessThanOrEqual(2 + 8);
      }
      expect(findings).toHaveLength(1);
    },
    5 * MINUTE,
  );
});
