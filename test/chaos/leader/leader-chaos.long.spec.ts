import { describeWithRedis } from '../../support/redis';
import { runLeaderChaos } from './leader-chaos';

describeWithRedis('leaders that are driven out under load', () => {
  it('I1 I2 I8 I9: no address twice or before its rest, no late epoch, no lost write', async () => {
    const report = await runLeaderChaos({ changes: 8, leaseMs: 200 });
    expect(report).toMatchObject({
      changes: 8,
      duplicates: 0,
      restsViolated: 0,
      addressesChanged: 0,
      lateEpochs: 0,
      sharedEpochs: 0,
      lostWrites: 0,
    });
    // Nothing above means anything unless there was work.
    expect(report.acknowledgedWrites).toBeGreaterThan(0);
    expect(report.handedOn).toBeGreaterThan(0);
    expect(report.traces).toBeGreaterThan(0);
  });
});
