import { compareText } from '@causeway/resources';
import { followed } from '../../../../test/support/route-leader';
import { joinedMesh, type JoinedMesh, type TestGlobal, type TestZone } from '../../../../test/support/sync-mesh';
import { KumaZone } from '../../../../test/support/kuma-zone';

const ROUTE = { parentRefs: [{ kind: 'Service', name: 'foo' }], rules: [{ backendRefs: [{ name: 'foo', port: 80 }] }] };
const GRANT = { from: [{ group: '', kind: 'HTTPRoute', namespace: 'edge' }], to: [{ group: '', kind: 'Service' }] };
const GATEWAY = { gatewayClassName: 'edge', listeners: [{ name: 'web', port: 80, protocol: 'HTTP' }] };
const LISTENERS = [{ portMapping: { port: 80, protocol: 'http' } }];
const SPECS = {
  HTTPRoute: ROUTE,
  GRPCRoute: ROUTE,
  TLSRoute: ROUTE,
  TCPRoute: ROUTE,
  UDPRoute: ROUTE,
  Gateway: GATEWAY,
  ReferenceGrant: GRANT,
  VirtualNode: { podSelector: {}, listeners: LISTENERS },
  VirtualRouter: { listeners: LISTENERS },
  VirtualService: { provider: { virtualNode: { virtualNodeRef: { name: 'foo' } } } },
} as const;

describe('routes cross zones', () => {
  let mesh: JoinedMesh;
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;

  beforeEach(async () => {
    mesh = await joinedMesh();
    ({ global, east, west } = mesh);
  });
  afterEach(() => mesh.close());

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

  it("the same binding in both zones from the global's route; a zone's own binds in that zone alone", async () => {
    const tables = { global: followed(global), east: followed(east), west: followed(west) };
    const bound = (plane: keyof typeof tables): readonly string[] => {
      const { table } = tables[plane];
      return [...{ global, east, west }[plane].index.ofKind('MeshService')]
        .flatMap(({ id }) => {
          const frontend = table.frontend(id);
          if (!frontend) return [];
          return table.listGroups(frontend).flatMap((group) =>
            [...table.group(frontend, group).bindings.values()].map(({ port, kind, entries }) => {
              const rules = entries.map(({ route, rule, match }) => [route.id.name, rule.name, match.rank].join(' '));
              return [id.zone, id.name, port, group, kind, ...rules].join(' ');
            }),
          );
        })
        .sort(compareText);
    };
    await east.put('MeshService', 'foo', { ports: [{ port: 80 }, { port: 81 }], state: 'Available' });
    const foo = east.id('MeshService', 'foo');
    await west.holds(foo);
    const split = (name: string, path: string) => ({
      ...ROUTE,
      rules: [{ name, matches: [{ path: { value: path } }], backendRefs: [{ name: 'foo', port: 80 }] }],
    });
    const last = { ...ROUTE, parentRefs: [{ kind: 'Service', name: 'foo', port: 81 }] };
    await global.put('HTTPRoute', 'short', split('short', '/a'));
    await global.put('HTTPRoute', 'long', split('long', '/a/b'));
    await global.put('TCPRoute', 'weak', ROUTE);
    await global.put('GRPCRoute', 'strong', last);
    for (const zone of [east, west])
      for (const [kind, name] of [
        ['HTTPRoute', 'long'],
        ['TCPRoute', 'weak'],
        ['GRPCRoute', 'strong'],
      ] as const)
        await zone.holds(global.id(kind, name));
    expect(bound('east').map((text) => text.split(' ').slice(0, 6).join(' '))).toEqual([
      'east foo 80 producer HTTPRoute long',
      'east foo 81 producer GRPCRoute strong',
    ]);
    expect(bound('west')).toEqual(bound('east'));
    expect(bound('global')).toEqual(bound('east'));
    await east.put('HTTPRoute', 'own', split('own', '/a/b/c'));
    await global.holds(east.id('HTTPRoute', 'own'));
    await global.put('HTTPRoute', 'later', split('later', '/'));
    await west.holds(global.id('HTTPRoute', 'later'));
    const names = (plane: keyof typeof tables): boolean => bound(plane).some((text) => text.includes(' own '));
    expect([names('east'), names('west')]).toEqual([true, false]);
    expect(bound('west').some((text) => text.includes(' later '))).toBe(true);
    for (const table of Object.values(tables)) table.close();
  });

  it('a change and a deletion arrive; a Kuma zone is sent no kind of the Gateway API', async () => {
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
