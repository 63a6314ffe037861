import { ChannelCredentials } from '@grpc/grpc-js';
import { coreKinds } from '@causeway/kinds';
import { silentLogger, systemClock } from '@causeway/runtime';
import { LapsingTerm } from '../../../../test/support/lapsing-term';
import { TestGlobal } from '../../../../test/support/sync-mesh';
import { TestPlane } from '../../../../test/support/test-plane';
import { until } from '../../../../test/support/until';
import { createZoneSync } from '../zone/zone-sync';

/** More checks of the term than a session makes; a session that makes more fails the test. */
const MAX_CHECKS = 50;

describe("a zone's session with the global", () => {
  const global = new TestGlobal();
  const zone = new TestPlane({ role: 'zone', zone: 'west', federated: true });
  beforeAll(async () => {
    await global.put('Mesh', 'default', {});
    await global.serve();
  });
  afterAll(async () => {
    await zone.close();
    await global.close();
  });

  /** Runs the sync of a term; resolves with how often it had looked at the term when it was connected, 0 if it never was. */
  async function runTerm(lapsesAt: number): Promise<number> {
    const { epoch: before, holder } = await zone.state.lease.readEpoch();
    await zone.state.lease.release(before, holder);
    const epoch = (await zone.state.lease.takeOver(before, 'a', 1_000_000)) ?? 0;
    const term = new LapsingTerm(epoch, 'a', lapsesAt);
    const sync = createZoneSync({
      zone: 'west',
      storeId: 'store-of-west',
      store: zone.store,
      index: zone.index,
      registry: coreKinds,
      term,
      clock: systemClock,
      logger: silentLogger,
      version: '0.0.0',
      maintenance: zone.store,
      addresses: [`127.0.0.1:${global.port}`],
      credentials: ChannelCredentials.createInsecure(),
    });
    let isOver = false;
    const running = sync.run().then(() => (isOver = true));
    const isConnected = () => sync.status().complete.includes('Mesh');
    await until('it is connected, or the term is over', () => isOver || isConnected());
    const looks = isOver ? 0 : term.looks;
    if (looks > 0) term.end();
    await running;
    return looks;
  }

  it('ends with the term, whichever look at the term finds that it is over', async () => {
    let lapsesAt = 1;
    while (lapsesAt < MAX_CHECKS && (await runTerm(lapsesAt)) === 0) lapsesAt++;
    expect(lapsesAt).toBeGreaterThan(3);
    expect(lapsesAt).toBeLessThan(MAX_CHECKS);
  });
});
