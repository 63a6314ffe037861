import { checkConfig } from '../config/read-config';
import { buildDataplane } from './dataplane-spec';

it.each<['builtin' | 'direct', object]>([
  ['builtin', { port: 80, servicePort: 80, serviceAddress: '127.0.0.1' }],
  // The process listens at the address of the Dataplane: a zone refuses a process at the proxy's own socket.
  ['direct', { port: 80 }],
])('the inbound of a service, by the plane %s', (plane, want) => {
  const result = checkConfig({
    controlPlanes: ['10.0.0.1:5678'],
    plane,
    trustedNetworks: ['10.0.0.0/8'],
    capture: 'redirect',
    dataplanes: [{ name: 'a', address: '10.0.0.7', services: [{ name: 'a', port: 80 }] }],
  });
  if (!result.ok || !result.config.dataplanes[0]) throw new Error('the configuration is wrong');
  expect(buildDataplane(result.config, result.config.dataplanes[0]).spec).toEqual({
    networking: {
      address: '10.0.0.7',
      inbound: [{ ...want, protocol: 'tcp', tags: { 'kuma.io/service': 'a', 'kuma.io/protocol': 'tcp' } }],
    },
  });
});
