import fc from 'fast-check';
import {
  egressCluster,
  egressClusterName,
  egressSecretNames,
  parseEgressSecret,
  ingressEndpointsName,
  parseIngressEndpoints,
  formatXdsName,
  hostPort,
  OUTBOUND_LISTENER,
  parseHostPort,
  parseXdsName,
  restOfXdsName,
  XDS_PREFIXES,
} from './resource-names';

const prefix = fc.constantFrom(...XDS_PREFIXES);
const rest = fc.string({ maxLength: 40 });
const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/);

it('a name has the prefix and the rest that it was made of, and no other', () => {
  fc.assert(
    fc.property(prefix, prefix, rest, (one, other, text) => {
      const made = formatXdsName(one, text);
      expect(parseXdsName(made)).toEqual({ prefix: one, rest: text });
      expect(restOfXdsName(made, other)).toBe(one === other ? text : undefined);
    }),
  );
});

it.each([OUTBOUND_LISTENER, '', ':', 'vip', 'VIP:1', 'resolved:x', 'toString:x', 'inbound-x:1'])(
  '%s has no prefix of ours',
  (text) => expect(parseXdsName(text)).toBeUndefined(),
);

it('addresses, server names, meshes and zones come back out of names', () => {
  const address = fc.oneof(
    fc.ipV4(),
    fc.ipV6().filter((ip) => !ip.includes('.')),
  );
  const at = fc.record({ address, port: fc.integer({ min: 1, max: 65_535 }) });
  fc.assert(
    fc.property(at, name, name, fc.boolean(), (place, mesh, zone, isRuled) => {
      expect(parseHostPort(hostPort(place))).toEqual(place);
      expect(parseIngressEndpoints(ingressEndpointsName(mesh, zone))).toEqual({ mesh, zone });
      expect(egressCluster(egressClusterName(mesh, isRuled))).toEqual({ serverName: mesh, isRuled });
      const secrets = egressSecretNames(mesh);
      expect(parseEgressSecret(secrets.identity)).toEqual({ type: 'identity', mesh });
      expect(parseEgressSecret(secrets.trust)).toEqual({ type: 'trust', mesh });
    }),
  );
});
