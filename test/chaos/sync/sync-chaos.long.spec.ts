import { fuzzSeed } from '../../support/fuzz-seed';
import { faults } from './chaos-report';
import { runSyncChaos } from './sync-chaos';

it('I4 I5 I7 I9: zones and replicas of the global that are killed, stopped and cut off hold what the origins hold', async () => {
  const report = await runSyncChaos({ seed: fuzzSeed('chaos'), seconds: 10 });
  expect(faults(report)).toEqual([]);
  // Nothing above means anything unless there was work.
  expect(report.answeredWrites).toBeGreaterThan(0);
  expect(report.deletions).toBeGreaterThan(0);
  expect(Object.keys(report.mishaps)).not.toEqual([]);
});
