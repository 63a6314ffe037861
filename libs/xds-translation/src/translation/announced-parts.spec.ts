import { RESOURCE_TYPES } from '@causeway/xds-server';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { zoneResources } from '../../../../test/support/zone-resources';
import type { EnvoyView } from '../views/envoy-view';

const { cluster, endpoints, listener } = RESOURCE_TYPES;
const NAME = 'kri_msvc_default_west__shop_80';
const view: EnvoyView = { mesh: 'default', listed: 'all', capture: { type: 'bind' } };

const shop = (status = {}, identity = 'shop') =>
  sketch(
    'MeshService',
    'shop',
    {
      selector: { dataplaneTags: { 'kuma.io/service': 'shop' } },
      ports: [{ port: 80, appProtocol: 'tcp' }],
      identities: [{ type: 'SpiffeID', value: `spiffe://default.west.mesh.local/${identity}` }],
    },
    { status },
  );
const instance = (name: string, address: string) =>
  sketch('Dataplane', name, {
    networking: { address, inbound: [{ port: 80, state: 'Ready', tags: { 'kuma.io/service': 'shop' } }] },
  });

const NAMED = {
  vip: { ip: '241.0.0.1' },
  addresses: [{ hostname: 'shop.mesh', status: 'Available' }],
};

/** Returns the types whose resource of the service is announced by a change, after all of them were served. */
function announcedBy(status: object, change: (zone: TrafficZone) => void): readonly string[] {
  const zone = new TrafficZone([sketch('Mesh', 'default', {}), shop({ ...status }), instance('a', '10.0.0.1')]);
  const source = zoneResources(zone, 'west');
  source.follow();
  for (const type of [cluster, endpoints]) source.get(view, type, NAME);
  for (const name of source.names({ id: 'p', view }, listener)) source.get(view, listener, name);
  const found = new Set<string>();
  source.subscribe({
    changed: ({ type, names }) => void (names.length > 0 && found.add(type)),
    relisted: () => undefined,
    allChanged: () => void found.add('everything'),
  });
  change(zone);
  return [...found].sort();
}

describe('what a change of a service announces of its served resources:', () => {
  it.each<[string, object, (zone: TrafficZone) => void, readonly string[]]>([
    ['an address and names: neither cluster nor endpoints', {}, (zone) => zone.put(shop(NAMED)), []],
    [
      'another address: the listener that had the former',
      NAMED,
      (zone) => zone.put(shop({ vip: { ip: '241.0.0.2' } })),
      [listener],
    ],
    [
      'an instance: cluster and endpoints, and no listener',
      NAMED,
      (zone) => zone.put(instance('b', '10.0.0.2')),
      [cluster, endpoints],
    ],
    ['an identity: cluster and endpoints', NAMED, (zone) => zone.put(shop(NAMED, 'other')), [cluster, endpoints]],
  ])('%s', (_, status, change, want) => {
    expect(announcedBy(status, change)).toEqual([...want].sort());
  });
});
