import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { zoneResources } from '../../../../test/support/zone-resources';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import type { EnvoyView } from './envoy-view';

const { cluster, endpoints, listener } = RESOURCE_TYPES;
const VIEW: EnvoyView = { mesh: 'default', wire: 'grpc', listed: new Set() };

describe('what is known of names that proxies ask for', () => {
  const setUp = () => {
    const web = sketch('MeshService', 'web', { ports: [{ port: 80 }] }, { status: { vip: { ip: '241.0.0.1' } } });
    const zone = new TrafficZone([web]);
    const source = zoneResources(zone, 'west');
    return { source, known: () => source.loader.served.reads.size.readers };
  };

  it('is forgotten with the last proxy that asks, where there is no such resource', () => {
    const { source, known } = setUp();
    const before = known();
    for (let n = 0; n < 1_000; n++)
      for (const type of [cluster, endpoints, listener]) source.get(VIEW, type, `nothing-${n}`);
    expect(known() - before).toBe(3_000);
    for (let n = 0; n < 1_000; n++)
      for (const type of [cluster, endpoints, listener]) source.released(type, `nothing-${n}`);
    expect(known()).toBe(before);
  });

  it('is kept of a resource that there is: others may list it', () => {
    const { source, known } = setUp();
    expect(
      source.get({ ...VIEW, wire: 'envoy', listed: 'all' }, cluster, 'kri_msvc_default_west__web_80'),
    ).toBeDefined();
    const before = known();
    source.released(cluster, 'kri_msvc_default_west__web_80');
    expect(known()).toBe(before);
  });
});
