import type { JsonObject } from '@causeway/resources';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import type { EnvoyView } from '../views/envoy-view';
import { zoneResources } from '../../../../test/support/zone-resources';

const EGRESS = { address: '10.0.0.9', port: 10002 };
const { listener } = RESOURCE_TYPES;

describe('listeners of a zone that a proxy does not have', () => {
  const zone = new TrafficZone();
  const source = zoneResources(zone, 'west');
  source.follow();
  const reasons = (view: EnvoyView): readonly string[] =>
    [...source.refused({ id: 'one', view })].flatMap(({ name, violations }) =>
      violations.map(({ field, reason }) => `${name} ${field} ${reason}`),
    );

  it('are said at its Dataplane: an egress, and an ingress whose address is no IP address', () => {
    const listeners = [
      { type: 'ZoneEgress', address: '10.0.0.1', port: 10002 },
      { type: 'ZoneIngress', address: 'in.example', port: 10001 },
      { type: 'ZoneIngress', address: '10.0.0.1', port: 10001 },
    ];
    const dataplane = sketch('Dataplane', 'edge', { networking: { address: '10.0.0.1', listeners } });
    zone.put(dataplane);
    const view: EnvoyView = { mesh: 'default', listed: new Set(), dataplane: dataplane.id };
    expect([...source.names({ id: 'one', view }, listener)]).toEqual(['ingress:10.0.0.1:10001']);
    expect(reasons(view)).toEqual([
      expect.stringMatching(/^egress:10.0.0.1:10002 spec.networking.listeners\[0\].type .*declare a ZoneEgress/),
      expect.stringMatching(/^ingress:in.example:10001 spec.networking.listeners\[1\].address .*got "in.example"/),
    ]);
  });

  it('are said at the egress: meshes where nobody signs for it, until somebody does', () => {
    const view: EnvoyView = { mesh: '', listed: new Set(), egress: { at: EGRESS, identity: () => undefined } };
    const spec: JsonObject = { match: { port: 443, protocol: 'tcp' }, endpoints: [{ address: '1.1.1.1', port: 443 }] };
    zone.put(sketch('Mesh', 'default', {}), sketch('MeshExternalService', 'api', spec, { zone: '' }));
    expect(reasons(view)).toEqual([]);
    zone.put(sketch('ZoneEgress', 'out', { networking: EGRESS }));
    expect(reasons(view)).toEqual([
      expect.stringMatching(/^egress:10.0.0.9:10002 default Mesh default .*no MeshIdentity.* no key of Mesh.mtls/),
    ]);
    const identity = { selector: { dataplane: { matchLabels: {} } }, provider: { type: 'Bundled' } };
    zone.put(sketch('MeshIdentity', 'all', identity, { zone: '' }));
    expect(reasons(view)).toEqual([]);
  });
});
