import { Type, type Static } from 'typebox';
import { defineKind, Sync, type FieldPath, type Violation } from '@causeway/resources';
import { selectorViolations } from './schema/rules';
import { GATEWAY_API, Group, Hostname, KindName, NamespaceName, ObjectName, SectionName } from './schema/route-parts';
import { NonEmpty, Optionals, PortNumber, Selector, strict, Text } from './schema/schema-parts';

const AllowedRoutes = Optionals({
  namespaces: Optionals({ from: Type.Enum(['All', 'Selector', 'Same']), selector: Selector }),
  kinds: Type.Array(Type.Object({ group: Type.Optional(Group), kind: KindName }, strict), { maxItems: 8 }),
});

const CertificateRef = Type.Object(
  {
    group: Type.Optional(Group),
    kind: Type.Optional(KindName),
    name: ObjectName,
    namespace: Type.Optional(NamespaceName),
  },
  strict,
);

const ListenerTls = Optionals({
  mode: Type.Enum(['Terminate', 'Passthrough']),
  certificateRefs: Type.Array(CertificateRef, { maxItems: 64 }),
});

export const Listener = Type.Object(
  {
    name: SectionName,
    hostname: Type.Optional(Hostname),
    port: PortNumber,
    protocol: Type.Enum(['HTTP', 'HTTPS', 'TLS', 'TCP', 'UDP']),
    tls: Type.Optional(ListenerTls),
    allowedRoutes: Type.Optional(AllowedRoutes),
  },
  strict,
);

const Address = Optionals({ type: NonEmpty, value: Text });

const Spec = Type.Object(
  {
    gatewayClassName: ObjectName,
    listeners: Type.Array(Listener, { minItems: 1, maxItems: 64 }),
    addresses: Type.Optional(Type.Array(Address, { maxItems: 16 })),
  },
  {
    ...strict,
    examples: [{ gatewayClassName: 'edge', listeners: [{ name: 'web', port: 80, protocol: 'HTTP' }] }],
  },
);

/**
 * Entry point of traffic from outside, as the Gateway API defines it. No gateway runs: routes that name a Gateway are
 * bound to it, evaluated by its listeners and explained (T002-36).
 */
export const Gateway = defineKind({
  name: 'Gateway',
  plural: 'gateways',
  shortName: 'gtw',
  apiVersion: `${GATEWAY_API}/v1`,
  scope: 'mesh',
  namespaced: true,
  sync: Sync.routes,
  writer: 'operator',
  spec: Spec,
  validate: ({ listeners }, at) => [
    ...checkDistinctListeners(listeners, at.field('listeners')),
    ...listeners.flatMap((listener, i) => listenerViolations(listener, at.field('listeners').index(i))),
  ],
});

type ListenerSpec = Static<typeof Listener>;

function checkDistinctListeners(listeners: readonly ListenerSpec[], at: FieldPath): Violation[] {
  const seen = new Map<string, number>();
  return listeners.flatMap(({ name, port, protocol, hostname = '' }, i) => {
    const place = `${port}, ${protocol}, ${hostname}`;
    const [sameName, samePlace] = [seen.get(`name ${name}`), seen.get(place)];
    seen.set(`name ${name}`, sameName ?? i).set(place, samePlace ?? i);
    const field = at.index(i);
    return [
      ...(sameName === undefined
        ? []
        : [field.field('name').violation(`must be unique; "${name}" is already at index ${sameName}`, 'not-unique')]),
      ...(samePlace === undefined
        ? []
        : [field.violation(`port, protocol and hostname are already at index ${samePlace}: ${place}`, 'not-unique')]),
    ];
  });
}

function listenerViolations({ protocol, hostname, tls, allowedRoutes }: ListenerSpec, at: FieldPath): Violation[] {
  const { from = 'Same', selector } = allowedRoutes?.namespaces ?? {};
  const field = at.field('allowedRoutes').field('namespaces').field('selector');
  return [
    ...(hostname !== undefined && ['TCP', 'UDP'].includes(protocol)
      ? [at.field('hostname').violation(`must be absent with protocol ${protocol}`)]
      : []),
    ...tlsViolations(protocol, tls, at.field('tls')),
    ...(from === 'Selector' && !selector ? [field.violation('is required with from: Selector', 'required')] : []),
    ...selectorViolations(selector, field),
  ];
}

function tlsViolations(protocol: string, tls: ListenerSpec['tls'], at: FieldPath): Violation[] {
  if (!tls) return protocol === 'TLS' ? [at.violation('is required with protocol TLS', 'required')] : [];
  if (['HTTP', 'TCP', 'UDP'].includes(protocol)) return [at.violation(`must be absent with protocol ${protocol}`)];
  const { mode, certificateRefs = [] } = tls;
  if (protocol === 'TLS' && mode === undefined) {
    return [at.field('mode').violation('is required with protocol TLS', 'required')];
  }
  if (protocol === 'HTTPS' && mode === 'Passthrough') {
    return [at.field('mode').violation('must be Terminate with protocol HTTPS; got Passthrough')];
  }
  return (mode ?? 'Terminate') === 'Terminate' && certificateRefs.length === 0
    ? [at.field('certificateRefs').violation('must have an entry with mode Terminate', 'too-few')]
    : [];
}
