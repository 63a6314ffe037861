import { PRODUCER } from '@causeway/routing';
import { fillAtOnce, noteInto } from '@causeway/store/testing';
import { meshesOf } from '../../../../test/support/meshes';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { FollowedRoutes } from '../routes/followed-routes';
import { FollowedPolicies } from './followed-policies';

const semantics = 'paints requests';
const definition = sketch('MetaresourceDefinition', 'paint', {
  group: 'policies.example.com',
  kind: 'PaintPolicy',
  plural: 'paintpolicies',
  hierarchy: 'mesh',
  declaredTargets: [
    { kind: 'Namespace', semantics },
    { kind: 'MeshService', semantics },
    { kind: 'HTTPRoute', semantics },
  ],
  effectiveTarget: { level: 'Rule', semantics },
  schema: { type: 'object', properties: { colour: { type: 'string', maxLength: 9 } } },
});
const service = sketch('MeshService', 'shop', { ports: [{ port: 80 }] });
const policy = sketch('PaintPolicy', 'p', { targetRefs: [{ kind: 'Namespace', name: 'default' }], colour: 'red' });
const special = sketch('PaintPolicy', 'q', { targetRefs: [{ kind: 'MeshService', name: 'shop' }], colour: 'blue' });
const route = sketch('HTTPRoute', 'r', {
  parentRefs: [{ kind: 'MeshService', name: 'shop' }],
  rules: [{ name: 'all', backendRefs: [{ name: 'shop', port: 80 }] }],
});

function followed(zone: TrafficZone) {
  const options = { index: zone.index, meshes: meshesOf(zone.index), run: fillAtOnce };
  const routes = new FollowedRoutes({ ...options, zone: 'west' });
  const policies = new FollowedPolicies({ ...options, routes });
  const received: unknown[] = [];
  policies.subscribe(noteInto(received));
  const at = { frontend: service.id, port: 80, group: PRODUCER };
  const colour = () => policies.table.effectiveOfRule('PaintPolicy', at)?.spec['colour'];
  return { policies, received, colour };
}

describe('the policies of a process', () => {
  it('are what the index holds at its start', async () => {
    const { policies, colour } = followed(new TrafficZone([definition, service, policy]));
    await policies.whenLoaded();
    expect(colour()).toBe('red');
  });

  it('follow definitions, services, routes and policies in any order', () => {
    const zone = new TrafficZone();
    const { received, colour } = followed(zone);
    zone.put(policy);
    zone.put(service);
    expect(colour()).toBeUndefined();
    zone.put(definition);
    expect(colour()).toBe('red');
    zone.put(special);
    expect(colour()).toBe('blue');
    expect(received.at(-1)).toMatchObject({
      rules: [{ kind: 'PaintPolicy', frontend: service.uid, group: 'producer' }],
      policies: [special.uid, policy.uid],
    });
    zone.delete(definition);
    expect(colour()).toBeUndefined();
    zone.delete(special);
    zone.put(definition);
    expect(colour()).toBe('red');
  });

  it('tell of a route that came below a policy', () => {
    const zone = new TrafficZone([definition, service, policy]);
    const { received, policies } = followed(zone);
    received.length = 0;
    zone.put(route);
    expect(received).toContainEqual({
      rules: [{ kind: 'PaintPolicy', frontend: service.uid, group: 'producer' }],
      backends: [],
      meshes: [],
      policies: [policy.uid],
    });
    policies.close();
    zone.delete(policy);
    expect(received).toHaveLength(1);
  });

  it('tell of the last policy that goes, and of a definition that goes with its last', () => {
    const zone = new TrafficZone([definition, service, special]);
    const { received } = followed(zone);
    const gone = {
      rules: [{ kind: 'PaintPolicy', frontend: service.uid, group: 'producer' }],
      backends: [],
      meshes: [],
    };
    received.length = 0;
    zone.delete(special);
    expect(received).toEqual([{ ...gone, policies: [] }]);
    zone.put(special);
    received.length = 0;
    zone.delete(definition);
    expect(received).toMatchObject([gone]);
  });

  it('tell of the mesh alone where a policy stands on it, also to a headless service', () => {
    const headless = sketch('MeshService', 'shop', { ...service.spec, selector: { dataplaneRef: { name: 'a' } } });
    const semantic = { ...definition.spec, declaredTargets: [{ kind: 'Mesh', semantics }] };
    const zone = new TrafficZone([{ ...definition, spec: semantic }]);
    const { received, colour, policies } = followed(zone);
    zone.put(headless);
    const wide = sketch('PaintPolicy', 'p', { targetRefs: [{ kind: 'Mesh', name: 'default' }], colour: 'red' });
    zone.put(wide);
    const meshes = [{ kind: 'PaintPolicy', mesh: 'default' }];
    expect(received).toEqual([{ rules: [], backends: [], meshes, policies: [wide.uid] }]);
    expect(colour()).toBe('red');
    const kind = policies.table.kind('PaintPolicy');
    expect(kind?.scopes.plain('default', 'default')).toBe(1);
  });

  it('hold in meshes that are served only', () => {
    const zone = new TrafficZone([definition, service, policy]);
    const { colour } = followed(zone);
    zone.put(sketch('Mesh', 'default', { controllerName: 'example.com/other' }));
    const own = colour();
    zone.delete(sketch('Mesh', 'default', {}));
    expect([own, colour()]).toEqual(['red', 'red']); // the expected mesh is served although another controller owns it
    const other = sketch('PaintPolicy', 'p', policy.spec, { mesh: 'other' });
    const stranger = sketch('MeshService', 'shop', service.spec, { mesh: 'other' });
    zone.put(other, stranger);
    const at = { frontend: stranger.id, port: 80, group: PRODUCER };
    const { policies } = followed(zone);
    expect(policies.table.effectiveOfRule('PaintPolicy', at)).toBeUndefined();
    zone.put(sketch('Mesh', 'other', {}));
    expect(policies.table.effectiveOfRule('PaintPolicy', at)?.spec).toEqual({ colour: 'red' });
  });

  it('ignore a definition and a policy that break rules', () => {
    const zone = new TrafficZone([
      { ...definition, spec: { ...definition.spec, hierarchy: ['Rule', 'Mesh'] } },
      service,
    ]);
    const { policies, colour } = followed(zone);
    zone.put(policy);
    expect([...policies.table.definitions]).toEqual([]);
    zone.put(definition);
    expect(colour()).toBe('red');
    zone.put({ ...policy, spec: { ...policy.spec, colour: null }, generation: 2 });
    expect(colour()).toBeUndefined();
  });
});
