import { globalIdentity, type JsonObject } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { meshesOf } from '../../../../test/support/meshes';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { createZoneLifecycleLoop } from '../global/zones/zone-lifecycle-loop';
import { GLOBAL_PEER, peerArea } from '../session/peer-state';

const KIND = 'PaintPolicy';
const MRD = globalIdentity('MetaresourceDefinition', 'paint');
const DEFINITION: JsonObject = {
  group: 'a.io',
  kind: KIND,
  plural: 'paintpolicies',
  hierarchy: 'mesh',
  declaredTargets: [{ kind: 'Namespace', semantics: 'paints its services' }],
  effectiveTarget: { level: 'Rule', semantics: 'is painted' },
  schema: { type: 'object', properties: { colour: { type: 'string' } } },
};
const RED = { targetRefs: [{ group: '', kind: 'Namespace', name: 'default' }], colour: 'red' };

describe('kinds whose definition has gone', () => {
  let global: TestGlobal;
  let east: TestZone;

  beforeEach(async () => {
    global = new TestGlobal();
    east = new TestZone('east');
    await global.put('Mesh', 'default', {});
    await global.serve();
  });
  afterEach(async () => {
    await east.close();
    await global.close();
  });

  const define = (): Promise<number> => global.put(MRD.kind, MRD.name, DEFINITION);
  const undefine = (): Promise<number> => global.delete(MRD.kind, MRD.name);

  it('leave nothing of a zone that is deleted', async () => {
    await define();
    await east.join(global);
    await east.holds(MRD);
    const own = east.id(KIND, 'own');
    await east.put(KIND, 'own', RED);
    await global.holds(own);
    await undefine();
    await east.leave();
    await global.left('east');
    await global.delete('Zone', 'east');
    expect(global.get(own)).toBeDefined();
    const { store, index, kinds: registry, sessions } = global;
    const stop = new AbortController();
    const epoch = (await global.state.lease.takeOver(0, 'global-1', 1_000_000)) ?? 0;
    const keeper = createZoneLifecycleLoop({
      store,
      sessions,
      index,
      meshes: meshesOf(index),
      registry,
      clock: systemClock,
      logger: silentLogger,
      term: { epoch, holder: 'global-1', signal: stop.signal },
      lost: { policy: 'keep', after: 600_000 },
    });
    await keeper.round();
    stop.abort();
    await global.lacks(own);
  });

  it('leave nothing of a mesh that is deleted in zones, where they are known again with their definition', async () => {
    await define();
    await global.put('Mesh', 'other', {});
    const copy = { ...global.id(KIND, 'of-all'), mesh: 'other' };
    const labels = { 'kuma.io/origin': 'global', 'kuma.io/display-name': 'of-all', 'kuma.io/mesh': 'other' };
    await global.write([{ type: 'put', id: copy, expect: 'any', labels, spec: RED }]);
    await east.join(global);
    await east.holds(copy);
    await undefine();
    await east.lacks(MRD);
    await global.delete('Mesh', 'other');
    await east.lacks(copy);
    await define();
    await global.put('Mesh', 'other', {});
    await east.holds(copy);
  });

  it('keep no zone out, however many there were over the years', async () => {
    const point = { incarnation: 'former', revision: 1, view: '' };
    const entries = Array.from({ length: 1_000 }, (_, i) => ({
      area: peerArea(GLOBAL_PEER),
      key: `point/Former${i}Policy`,
      value: point,
    }));
    await east.store.write({ changes: [], onRefusal: 'skip', metadata: entries });
    await east.join(global);
    await east.holds(globalIdentity('Mesh', 'default'));
  });
});
