import { compareText } from '@causeway/resources';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { KumaZone } from '../../../../test/support/kuma-zone';

const ROUTE = { parentRefs: [{ kind: 'Service', name: 'foo' }], rules: [{ backendRefs: [{ name: 'foo', port: 80 }] }] };
const GRANT = { from: [{ group: '', kind: 'HTTPRoute', namespace: 'edge' }], to: [{ group: '', kind: 'Service' }] };
const GATEWAY = { gatewayClassName: 'edge', listeners: [{ name: 'web', port: 80, protocol: 'HTTP' }] };
const SPECS = {
  HTTPRoute: ROUTE,
  GRPCRoute: ROUTE,
  TLSRoute: ROUTE,
  TCPRoute: ROUTE,
  UDPRoute: ROUTE,
  Gateway: GATEWAY,
  ReferenceGrant: GRANT,
} as const;

describe('routes cross zones', () => {
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;

  beforeEach(async () => {
    global = new TestGlobal();
    [east, west] = [new TestZone('east'), new TestZone('west')];
    await global.put('Mesh', 'default', {});
    await global.serve();
    await Promise.all([east.join(global), west.join(global)]);
  });

  afterEach(async () => {
    await Promise.all([east.close(), west.close()]);
    await global.close();
  });

  it("the global's reach every zone, age and generation unchanged; a zone's own go up and stop there (T002-23)", async () => {
    for (const [kind, spec] of Object.entries(SPECS)) {
      await east.put(kind, 'own', spec);
      const own = await global.holds(east.id(kind, 'own'));
      expect(own).toMatchObject({ spec, creationOrder: (await east.holds(own.id)).creationOrder });
      await global.put(kind, 'of-all', spec);
      const made = await global.holds(global.id(kind, 'of-all'));
      for (const zone of [east, west]) {
        const { creationOrder, generation } = made;
        expect(await zone.holds(made.id)).toMatchObject({ spec, creationOrder, generation });
      }
      expect(west.names(kind)).toEqual(['of-all']);
      expect([...global.names(kind)].sort(compareText)).toEqual(['east/own', 'of-all']);
    }
  });

  it('a change and a deletion arrive; a Kuma zone is told of no route', async () => {
    const kz = new KumaZone('kz');
    await global.put('HTTPRoute', 'r', ROUTE);
    await global.put('MeshIdentity', 'identity', { provider: { type: 'Bundled' } });
    await west.holds(global.id('HTTPRoute', 'r'));
    await global.put('HTTPRoute', 'r', { ...ROUTE, hostnames: ['a.example'] });
    await west.holds(global.id('HTTPRoute', 'r'), ({ generation }) => generation === 2);
    kz.ask(global, ['HTTPRoute', 'MeshIdentity']);
    expect((await kz.firstResources('MeshIdentity')).length).toBe(1);
    expect(await kz.firstResources('HTTPRoute')).toEqual([]);
    kz.leave();
    await global.delete('HTTPRoute', 'r');
    await west.lacks(global.id('HTTPRoute', 'r'));
  });
});
