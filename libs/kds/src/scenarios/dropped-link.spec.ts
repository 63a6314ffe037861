import { isJsonObject } from '@causeway/resources';
import { Link } from '../../../../test/support/link';
import { KumaZone } from '../../../../test/support/kuma-zone';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { until } from '../../../../test/support/until';

describe('a session whose link is dropped', () => {
  const global = new TestGlobal();
  const link = new Link();
  const east = new TestZone('east');

  /** The end of the zone's session, as the global reports it. */
  const reportedEnd = async (name = 'east'): Promise<unknown> => {
    const zone = global.index.get(global.id('Zone', name));
    const insight = zone && (await global.sync?.findInsight(zone));
    return isJsonObject(insight?.['offline']) ? insight['offline']['reason'] : undefined;
  };
  const heal = async (): Promise<void> => {
    link.heal();
    await until(
      'they are connected',
      async () => east.sync?.status().connected === true && (await reportedEnd()) === undefined,
    );
  };

  beforeAll(async () => {
    await global.put('Mesh', 'default', {});
    await global.serve();
    await link.listen();
    link.lead(global.port);
    await east.join(link);
    await east.holds(east.id('Mesh', 'default'));
  });
  afterAll(async () => {
    await Promise.all([east.close(), link.close()]);
    await global.close();
  });

  it.each<'cut' | 'end'>(['cut', 'end'])('says on both sides that nobody knows who did it: %s', async (how) => {
    const reasons: (string | undefined)[] = [];
    const unseen = setInterval(() => reasons.push(east.sync?.status().lastError), 1);
    link[how]();
    await until(
      'both have noticed',
      async () => (await reportedEnd()) !== undefined && reasons.some((one) => one !== undefined),
    );
    clearInterval(unseen);
    expect(await reportedEnd()).toMatch(/^its connection ended without a word from the zone: .* which is not known$/);
    for (const reason of reasons)
      expect(reason ?? '').not.toMatch(/^(14|1) |the zone ended the stream|Cancelled on client$/);
    await heal();
  });

  it('is reported as one that the zone has cancelled where that is so', async () => {
    const kuma = new KumaZone('kuma');
    kuma.ask(global, ['Mesh']);
    await until('it is served', () => kuma.hasHeard('Mesh'));
    kuma.cancel();
    await until('the global has noticed', async () => (await reportedEnd('kuma')) !== undefined);
    expect(await reportedEnd('kuma')).toBe('the zone ended the stream');
    kuma.leave();
  });

  it('says that nothing is answered where the link carries nothing', async () => {
    link.silence();
    const west = new TestZone('west');
    await west.join(link);
    const reason = (): string => west.sync?.status().lastError ?? '';
    await until('a handshake was given up', () => reason() !== '');
    expect(reason()).toMatch(/^the global did not answer within 10 s: .* \(1 CANCELLED: Cancelled on client\)$/);
    await west.close();
  });
});
