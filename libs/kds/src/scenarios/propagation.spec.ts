import { FakeClock } from '@causeway/runtime/testing';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';

const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };

/** Ages of changes that a control plane was notified of, by kind. */
class Ages {
  readonly reported: [string, number][] = [];
  readonly propagated = (kind: string, age: number): void => void this.reported.push([kind, age]);

  of(kind: string): number[] {
    return this.reported.flatMap(([of, age]) => (of === kind ? [age] : []));
  }
}

describe('how long changes take', () => {
  const [global, west] = [new Ages(), new Ages()];
  /** Years ahead of the databases, and far behind them. */
  const [ahead, behind] = [new FakeClock(4_000_000_000_000), new FakeClock(1_000)];
  let globalPlane: TestGlobal;
  let east: TestZone;
  let westPlane: TestZone;

  beforeEach(async () => {
    for (const ages of [global, west]) ages.reported.length = 0;
    globalPlane = new TestGlobal({ clock: ahead, onPropagated: global.propagated });
    east = new TestZone('east');
    westPlane = new TestZone('west', { clock: behind, onPropagated: west.propagated });
    await globalPlane.put('Mesh', 'default', {});
    await east.put('MeshService', 'old', SPEC);
    await globalPlane.serve();
    await Promise.all([east.join(globalPlane), westPlane.join(globalPlane)]);
    await globalPlane.report('east', 'MeshService', 'up');
    await globalPlane.report('west', 'MeshService');
    await westPlane.holds(east.id('MeshService', 'old'));
    for (const ages of [global, west]) ages.reported.length = 0;
  });

  afterEach(async () => {
    await Promise.all([east.close(), westPlane.close()]);
    await globalPlane.close();
  });

  it('is measured from the commit at the origin to the write here, on the way and at the end; a clock behind says 0', async () => {
    await east.put('MeshService', 'new', SPEC);
    const copy = await westPlane.holds(east.id('MeshService', 'new'));
    await globalPlane.report('west', 'MeshService');
    expect(global.of('MeshService')).toEqual([ahead.now() - copy.origin.committedAt]);
    expect(west.of('MeshService')).toEqual([0]);
  });

  it('is not reported for a first state, whose resources may be of any age', async () => {
    const north = new Ages();
    const zone = new TestZone('north', { onPropagated: north.propagated });
    await zone.join(globalPlane);
    await zone.holds(east.id('MeshService', 'old'));
    await globalPlane.report('north', 'MeshService');
    expect(north.of('MeshService')).toEqual([]);
    await zone.close();
  });

  it('is reported for what a zone missed when it resumes: it did take that long', async () => {
    await westPlane.leave();
    await globalPlane.left('west');
    await east.put('MeshService', 'missed', SPEC);
    await globalPlane.holds(east.id('MeshService', 'missed'));
    await westPlane.join(globalPlane);
    await westPlane.holds(east.id('MeshService', 'missed'));
    await globalPlane.report('west', 'MeshService');
    expect(west.of('MeshService')).toEqual([0]);
  });
});
