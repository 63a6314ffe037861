import { inboundListenerName } from '@causeway/xds-translation';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import { ViewResources } from '../../../../../test/support/local-plane';
import { sketch, TrafficZone } from '../../../../../test/support/traffic-zone';
import { decodeListener, takesPlaintext } from './listeners';

const AT = { address: '10.0.0.1', port: 80 };

describe('takesPlaintext of an inbound', () => {
  it.each([
    ['tcp', { mtls: 'Strict' }, false],
    ['tcp', { mtls: 'Permissive' }, true],
    ['http', { mtls: 'Permissive' }, true],
    ['tcp', { mtls: 'Permissive', defaultAccess: 'Deny' }, false],
    ['tcp', { mtls: 'Off' }, true],
    ['http', { mtls: 'Off' }, true],
    ['tcp', { mtls: 'Off', defaultAccess: 'Deny' }, false],
  ])('%s, %j: %s', (protocol, spec, want) => {
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'p' };
    const inbound = [{ port: 80, servicePort: 8080, protocol }];
    const own = sketch('Dataplane', 'a', { networking: { address: AT.address, inbound } });
    const all = [own, sketch('Mesh', 'default', { parametersRef }), sketch('MeshParameters', 'p', spec)];
    const resources = new ViewResources(new TrafficZone(all), 'west', {
      mesh: 'default',
      listed: 'declared',
      dataplane: own.id,
    });
    const found = resources.get(RESOURCE_TYPES.listener, inboundListenerName(AT));
    if (found === undefined || found === 'pending') throw new Error('no listener');
    expect(takesPlaintext(decodeListener(found.bytes))).toBe(want);
  });
});
