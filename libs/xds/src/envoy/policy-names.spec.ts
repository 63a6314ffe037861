import { FollowedPolicies, FollowedRoutes } from '@causeway/meshes';
import type { StepsRunner } from '@causeway/meshes/testing';
import { RouteConfiguration } from '@causeway/proto-gen';
import type { JsonObject } from '@causeway/resources';
import { shippedKinds, sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { RESOURCE_TYPES } from '../resources/encoded-resource';
import { EnvoyResources } from './envoy-resources';
import type { EnvoyView } from './envoy-view';

const { routes } = RESOURCE_TYPES;
const NAMES = ['a', 'b', 'c'];
const atOnce: StepsRunner = (steps, done) => {
  for (const _ of steps);
  done();
};

/** Three services of namespace `shop`, and clients there and in `other`. */
function shop() {
  const spec = { ports: [{ port: 80, appProtocol: 'http' }] };
  const services = NAMES.map((name) => sketch('MeshService', name, spec, { namespace: 'shop' }));
  const clients = ['shop', 'other'].map((namespace) => sketch('Dataplane', 'client', {}, { namespace }));
  const mesh = sketch('Mesh', 'default', { controllerName: 'causeway.io/control-plane' });
  const zone = new TrafficZone([mesh, ...shippedKinds(), ...services, ...clients]);
  const followed = { index: zone.index, meshes: zone.access.meshes, run: atOnce };
  const policies = new FollowedPolicies({ ...followed, routes: new FollowedRoutes({ ...followed, zone: 'west' }) });
  const source = new EnvoyResources(zone.index, 'west', zone.access, { policies });
  source.follow();
  const told: string[] = [];
  source.subscribe({
    changed: ({ type, names }) => void (type === routes && told.push(...names)),
    reloaded: () => void told.push('everything'),
    relisted: () => undefined,
  });
  const views = clients.map(({ id }): EnvoyView => ({ mesh: 'default', listed: 'all', dataplane: id }));
  const nameOf = (service: string): string => {
    const found = [...source.model.destinations()].find((each) => each.service.name === service);
    return found?.name ?? '';
  };
  const get = (service: string, client = 0) => {
    const view = views[client];
    const found = view && source.get(view, routes, nameOf(service));
    if (!found || found === 'pending') throw new Error(`no routes of ${service}`);
    return found;
  };
  const seconds = (service: string, client = 0): number | undefined => {
    const [host] = RouteConfiguration.decode(get(service, client).bytes).virtualHosts;
    const action = host?.routes[0]?.action;
    return action?.$case === 'route' ? action.value.timeout?.seconds : undefined;
  };
  const policy = (targetRef: JsonObject, request: string, namespace = 'shop') =>
    sketch('TimeoutPolicy', 'policy', { targetRefs: [targetRef], request }, { namespace });
  return { zone, told, get, seconds, policy, nameOf };
}

describe('routes with policies', () => {
  it('are told and made again where a policy touches them, and nowhere else', () => {
    const { zone, told, get, seconds, policy, nameOf } = shop();
    const before = NAMES.map((name) => get(name));
    expect(NAMES.map((name) => seconds(name))).toEqual([0, 0, 0]);
    zone.put(policy({ kind: 'MeshService', name: 'b' }, '5s'));
    expect(new Set(told)).toEqual(new Set([nameOf('b')]));
    expect(NAMES.map((name) => seconds(name))).toEqual([0, 5, 0]);
    expect(NAMES.map((name, i) => get(name) === before[i])).toEqual([true, false, true]);
    told.length = 0;
    zone.delete(policy({ kind: 'MeshService', name: 'b' }, '5s'));
    expect(new Set(told)).toEqual(new Set([nameOf('b')]));
    expect(get('b').version).toBe(before[1]?.version);
  });

  it('follow a policy of the mesh, all of them, also those that were asked for by nobody before', () => {
    const { zone, told, seconds, policy, nameOf } = shop();
    expect(seconds('a')).toBe(0);
    zone.put(policy({ kind: 'Mesh', name: 'default' }, '7s'));
    expect(new Set(told)).toEqual(new Set(NAMES.map(nameOf)));
    expect(NAMES.map((name) => seconds(name))).toEqual([7, 7, 7]);
  });

  it('are another resource for the clients of a namespace whose policies count for them alone (T004-09)', () => {
    const { zone, get, seconds, policy } = shop();
    expect(get('a', 0)).toBe(get('a', 1));
    const own = policy({ kind: 'MeshService', name: 'a', namespace: 'shop' }, '3s', 'other');
    zone.put(own);
    expect([seconds('a', 0), seconds('a', 1)]).toEqual([0, 3]);
    zone.delete(own);
    expect([seconds('a', 0), seconds('a', 1)]).toEqual([0, 0]);
    expect(get('a', 0)).toBe(get('a', 1));
  });

  it('take a definition that comes or goes with all its policies', () => {
    const { zone, seconds, policy } = shop();
    zone.put(policy({ kind: 'Mesh', name: 'default' }, '7s'));
    const definition = shippedKinds().find(({ spec }) => spec['kind'] === 'TimeoutPolicy');
    if (!definition) throw new Error('no such kind');
    expect(seconds('a')).toBe(7);
    zone.delete(definition);
    expect(seconds('a')).toBe(0);
    zone.put(definition);
    expect(seconds('a')).toBe(7);
  });
});
