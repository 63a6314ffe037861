import fc from 'fast-check';
import {
  createHealthState,
  applyCheckResult,
  type CheckResult,
  type HealthState,
  type HealthThresholds,
} from './health-state';

const up: CheckResult = { ok: true };
const down: CheckResult = { ok: false, reason: 'no answer', isDefinite: false };
const refused: CheckResult = { ok: false, reason: 'connection refused', isDefinite: true };

interface Step {
  readonly after: number;
  readonly result: CheckResult;
}

function run(steps: readonly Step[], thresholds: HealthThresholds): readonly { at: number; state: HealthState }[] {
  let [at, state] = [0, createHealthState(0)];
  return steps.map(({ after, result }) => {
    at += after;
    state = applyCheckResult(state, result, thresholds, at);
    return { at, state };
  });
}

const every = (after: number, ...results: readonly CheckResult[]): readonly Step[] =>
  results.map((result) => ({ after, result }));

describe('the health of a service', () => {
  it.each<[string, HealthThresholds, readonly CheckResult[], readonly boolean[]]>([
    ['is ready after the first checks that pass', { healthy: 2, unhealthy: 2 }, [up, up, up], [false, true, true]],
    ['needs them in a row', { healthy: 2, unhealthy: 2 }, [up, down, up, up], [false, false, false, true]],
    [
      'stays ready while too few fail',
      { healthy: 1, unhealthy: 3 },
      [up, down, down, up, down],
      [true, true, true, true, true],
    ],
    ['falls when enough fail', { healthy: 1, unhealthy: 2 }, [up, down, down, up], [true, true, false, true]],
    ['falls at once where nothing listens', { healthy: 1, unhealthy: 9 }, [up, refused, up], [true, false, true]],
  ])('%s', (_, thresholds, results, want) => {
    expect(run(every(1_000, ...results), thresholds).map(({ state }) => state.ready)).toEqual(want);
  });

  it('says why it is not ready, and since when', () => {
    const [first, second, third] = run(every(10, down, up, refused), { healthy: 1, unhealthy: 1 });
    expect(first?.state).toMatchObject({ ready: false, reason: 'no answer', since: 0 });
    expect(second?.state).toMatchObject({ ready: true, reason: '', since: 20 });
    expect(third?.state).toMatchObject({ ready: false, reason: 'connection refused', since: 30 });
  });

  it('is damped where it flaps, and ready again within about a minute of rest', () => {
    const flapping = every(500, ...Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? up : refused)));
    const resting = every(1_000, ...Array.from({ length: 65 }, () => up));
    const states = run([...flapping, ...resting], { healthy: 1, unhealthy: 1 }).map(({ state }) => state);
    expect(states[19]?.isDamped).toBe(true);
    expect(states[20]).toMatchObject({ ready: false, reason: expect.stringContaining('too often') });
    const firstReady = states.slice(20).findIndex(({ ready }) => ready);
    expect(firstReady).toBeGreaterThan(20);
    expect(firstReady).toBeLessThanOrEqual(61);
  });

  it('holds these rules over random checks', () => {
    const result = fc.constantFrom(up, up, down, refused);
    const steps = fc.array(fc.record({ after: fc.integer({ min: 1, max: 20_000 }), result }), { maxLength: 200 });
    const thresholds = fc.record({
      healthy: fc.integer({ min: 1, max: 5 }),
      unhealthy: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(steps, thresholds, (random, limits) => {
        const states = run(random, limits);
        for (const [i, { at, state }] of states.entries()) {
          const before = states[i - 1]?.state ?? createHealthState(0);
          const recent = (count: number): readonly Step[] => random.slice(Math.max(0, i + 1 - count), i + 1);
          if (state.ready && !before.ready) {
            expect(recent(limits.healthy)).toHaveLength(limits.healthy);
            expect(recent(limits.healthy).every((step) => step.result.ok)).toBe(true);
            expect(state.isDamped).toBe(false);
          }
          if (!state.ready && before.ready) {
            const isRefused = random[i]?.result === refused;
            expect(isRefused || recent(limits.unhealthy).every((step) => !step.result.ok)).toBe(true);
          }
          if (random[i]?.result === refused) expect(state.ready).toBe(false);
          expect(state.since).toBe(state.ready === before.ready ? before.since : at);
          expect(state.ready).toBe(state.reason === '');
        }
        const last = states.at(-1);
        if (!last) return;
        let [at, state] = [last.at, last.state];
        for (let i = 0; i < 70; i++) state = applyCheckResult(state, up, limits, (at += 1_000));
        expect(state.ready).toBe(true);
      }),
    );
  });

  it('bounds how often it changes, whatever the checks say', () => {
    const results = fc.array(fc.constantFrom(up, refused), { minLength: 600, maxLength: 600 });
    fc.assert(
      fc.property(results, (random) => {
        const states = run(every(500, ...random), { healthy: 1, unhealthy: 1 }).map(({ state }) => state.ready);
        const ups = states.filter((ready, i) => ready && states[i - 1] !== true).length;
        // 300 s: four at first, then at most as many as the penalty forgives.
        expect(ups).toBeLessThanOrEqual(24);
      }),
    );
  });
});
