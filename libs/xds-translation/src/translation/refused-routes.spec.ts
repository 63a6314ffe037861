import type { JsonObject, Resource } from '@causeway/resources';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import { listTargets } from '../tables/destination-table';
import type { EnvoyView } from '../views/envoy-view';
import { zoneResources } from '../../../../test/support/zone-resources';

describe('what routes ask for and cannot be done is said no more', () => {
  const many = (ports: readonly JsonObject[]): Resource =>
    sketch('MeshMultiZoneService', 'a', { ports, selector: {} }, { status: { meshServices: [] } });
  const filters = [{ type: 'RequestMirror', requestMirror: { backendRef: { name: 'a', port: 80 } } }];
  const routeIn = (namespace: string): Resource => {
    const parentRefs = [{ kind: 'Service', namespace: 'default', name: 'shop' }];
    const backendRefs = [{ kind: 'Service', namespace: 'default', name: 'shop', port: 80 }];
    return sketch('HTTPRoute', 'a', { parentRefs, rules: [{ backendRefs, filters }] }, { namespace });
  };
  const shop = (hostname: string): Resource => {
    const status = { addresses: [{ hostname, status: 'Available' }] };
    return sketch('MeshService', 'shop', { ports: [{ port: 80 }], selector: {} }, { status });
  };
  const dataplane = { kind: 'Dataplane', mesh: 'default', zone: 'west', namespace: 'clients', name: 'a' };
  const clients: EnvoyView = { mesh: 'default', wire: 'grpc', listed: new Set(), dataplane };

  function serving(mostAtOnce: number, ...resources: readonly Resource[]) {
    const zone = new TrafficZone(resources);
    const source = zoneResources(zone, 'west', { maxAtOnce: mostAtOnce });
    source.follow();
    const names = (): readonly string[] => {
      for (const destination of source.model.destinations())
        for (const target of listTargets(destination)) source.get(clients, RESOURCE_TYPES.listener, target);
      return [...source.refused({ id: 'p', view: clients })].map(({ name }) => name);
    };
    return { zone, names };
  }

  it.each([0, Infinity])('of a port that is gone, where more than %d changes derive everything anew', (mostAtOnce) => {
    const parentRefs = [{ kind: 'MeshMultiZoneService', name: 'a' }];
    const backendRefs = [{ kind: 'MeshMultiZoneService', name: 'a', port: 80 }];
    const route = sketch('HTTPRoute', 'a', { parentRefs, rules: [{ backendRefs, filters }] });
    const { zone, names } = serving(mostAtOnce, many([{ port: 80 }]), route);
    expect(names()).toHaveLength(2); // both names of its channel
    zone.put(many([]));
    expect(names()).toEqual([]);
  });

  it('to clients whose own routes are gone', () => {
    const { zone, names } = serving(Infinity, shop('a.mesh'), routeIn('clients'));
    expect(names()).toContain('a.mesh');
    zone.delete(routeIn('clients'));
    expect(names()).toEqual([]);
  });

  it('under a hostname that a service has no more', () => {
    const { zone, names } = serving(Infinity, shop('a.mesh'), routeIn('default'));
    expect(names()).toContain('a.mesh');
    zone.put(shop('b.mesh'));
    expect(names()).toContain('b.mesh');
    expect(names()).not.toContain('a.mesh');
  });
});
