import { Link } from '../../../../test/support/link';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { until } from '../../../../test/support/until';

const MINUTE = 60_000;

describe('a zone that has the addresses of several replicas of its global', () => {
  const global = new TestGlobal();
  const links = [new Link(), new Link()] as const;
  const [first, second] = links;
  let east: TestZone;

  beforeAll(async () => {
    await global.put('Mesh', 'default', {});
    await global.serve();
    for (const link of links) {
      await link.listen();
      link.lead(global.port);
    }
    // A pause that the test would not outlive: only what needs none is tried in time.
    east = new TestZone('east', {
      addresses: links.map(({ port }) => `127.0.0.1:${port}`),
      backoff: { base: 10 * MINUTE, cap: 10 * MINUTE },
    });
  });
  afterAll(async () => {
    await Promise.all([east.close(), ...links.map((link) => link.close())]);
    await global.close();
  });

  it('takes the next one where the first is away, and the first again where that one is lost, without a pause', async () => {
    first.cut();
    await east.join(global);
    await until('it is connected by the second', () => east.sync?.status().connected);
    expect(east.sync?.status().lastError).toMatch(/^no connection to the global is possible/);
    first.heal();
    second.cut();
    await until('it is connected by the first', () => {
      const { connected, lastError } = east.sync?.status() ?? {};
      return connected === true && /was cut/.test(lastError ?? '');
    });
  });
});
