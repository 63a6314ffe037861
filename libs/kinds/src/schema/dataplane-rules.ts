import type { FieldPath, Violation } from '@causeway/resources';
import type {
  InboundSpec,
  DataplaneListener,
  DataplaneNetworking,
  DataplaneOutbound,
  ReachableBackend,
} from './dataplane-spec';
import { checkHostAddress, checkIpAddress, checkMemberAddress } from './rules';
import { protocols } from './schema-parts';

/** Checks the rules of a Dataplane's networking that a schema cannot express (docs/reference/kuma-rest.md §3.7, docs/reference/kuma-2.14.md §1). */
export function checkNetworking(networking: DataplaneNetworking, at: FieldPath): Violation[] {
  const { inbound = [], outbound = [], transparentProxying } = networking;
  const refs = transparentProxying?.reachableBackends?.refs ?? [];
  const refsAt = at.field('transparentProxying').field('reachableBackends').field('refs');
  return [
    ...checkHostAddress(networking.address, at.field('address')),
    ...(networking.advertisedAddress === undefined
      ? []
      : checkHostAddress(networking.advertisedAddress, at.field('advertisedAddress'))),
    ...checkGateway(networking, at),
    ...inbound.flatMap((item, i) => checkInbound(item, networking.address, at.field('inbound').index(i))),
    ...outbound.flatMap((item, i) => checkOutbound(item, at.field('outbound').index(i))),
    ...checkListeners(networking, at.field('listeners')),
    ...refs.flatMap((ref, i) => checkReachable(ref, refsAt.index(i))),
    ...checkAdmin(networking, at.field('admin').field('port')),
  ];
}

function checkGateway(networking: DataplaneNetworking, at: FieldPath): Violation[] {
  const { gateway } = networking;
  if (!gateway) return [];
  const builtin = gateway.type === 'BUILTIN';
  const forbidden = builtin ? (['inbound', 'outbound'] as const) : (['inbound', 'listeners'] as const);
  return [
    ...forbidden
      .filter((field) => (networking[field]?.length ?? 0) > 0)
      .map((field) => at.field(field).violation(`must be left out for a ${builtin ? 'builtin' : 'delegated'} gateway`)),
    ...checkGatewayTags(gateway.tags, at.field('gateway').field('tags')),
  ];
}

function checkInbound(inbound: InboundSpec, address: string, at: FieldPath): Violation[] {
  const { serviceAddress, servicePort } = inbound;
  const ownAddress = serviceAddress === address || serviceAddress === inbound.address;
  const loops = serviceAddress !== undefined && ownAddress && (servicePort ?? inbound.port) === inbound.port;
  return [
    ...checkIpAddress(inbound.address, at.field('address')),
    ...checkMemberAddress(inbound.address, at.field('address')),
    ...checkIpAddress(serviceAddress, at.field('serviceAddress')),
    ...(loops
      ? [
          at
            .field('serviceAddress')
            .violation('must differ from the address, or servicePort from port: it would serve itself'),
        ]
      : []),
    ...checkInboundTags(inbound.tags, at.field('tags')),
    ...checkPositiveTimes(inbound.serviceProbe, at.field('serviceProbe')),
  ];
}

function checkPositiveTimes(probe: InboundSpec['serviceProbe'], at: FieldPath): Violation[] {
  if (!probe) return [];
  return (['interval', 'timeout'] as const)
    .filter((field) => probe[field] !== undefined && Number.parseFloat(probe[field]) <= 0)
    .map((field) => at.field(field).violation('must be longer than 0s'));
}

function checkOutbound(outbound: DataplaneOutbound, at: FieldPath): Violation[] {
  const { backendRef, tags } = outbound;
  return [...checkIpAddress(outbound.address, at.field('address')), ...checkTarget(backendRef, tags, at)];
}

function checkTarget(
  ref: DataplaneOutbound['backendRef'],
  tags: DataplaneOutbound['tags'],
  at: FieldPath,
): Violation[] {
  if (ref && tags) return [at.violation('must have only one of backendRef, tags')];
  if (ref) return checkBackendRef(ref, at.field('backendRef'));
  if (!tags) return [at.field('backendRef').violation('is required', 'required')];
  const named = tags['kuma.io/service'] !== undefined;
  return [
    ...checkTagSyntax(tags, at.field('tags')),
    ...(named ? [] : [at.field('tags').field('kuma.io/service').violation('is required', 'required')]),
  ];
}

function checkBackendRef(ref: NonNullable<DataplaneOutbound['backendRef']>, at: FieldPath): Violation[] {
  return [
    ...(ref.name === undefined && !hasEntries(ref.labels) ? [at.violation('must have one of name, labels')] : []),
    ...(ref.port === undefined && ref.kind !== 'MeshExternalService'
      ? [at.field('port').violation('is required', 'required')]
      : []),
  ];
}

function checkReachable(ref: ReachableBackend, at: FieldPath): Violation[] {
  if (hasEntries(ref.labels)) {
    if (ref.name === undefined && ref.namespace === undefined) return [];
    return [at.field('labels').violation('must be left out where name or namespace is given')];
  }
  if (ref.name !== undefined) return [];
  return [
    at.field('name').violation(ref.namespace === undefined ? 'is required, or labels' : 'is required with namespace'),
  ];
}

function hasEntries(object: object | undefined): boolean {
  return object !== undefined && Object.keys(object).length > 0;
}

/** Refuses an admin port that an inbound or outbound on 127.0.0.1 uses: the proxy's admin endpoint listens there too. */
function checkAdmin(networking: DataplaneNetworking, at: FieldPath): Violation[] {
  const port = networking.admin?.port;
  if (port === undefined) return [];
  const inbound = (networking.inbound ?? []).some(
    (item) =>
      (item.port === port && onLoopback(item.address ?? networking.address)) ||
      ((item.servicePort ?? item.port) === port && onLoopback(item.serviceAddress ?? '127.0.0.1')),
  );
  const outbound = (networking.outbound ?? []).some(
    (item) => item.port === port && onLoopback(item.address ?? '127.0.0.1'),
  );
  return [
    ...(inbound ? [at.violation(`must differ from the inbounds; got ${port}`)] : []),
    ...(outbound ? [at.violation(`must differ from the outbounds; got ${port}`)] : []),
  ];
}

function onLoopback(address: string): boolean {
  return address === '127.0.0.1' || address === '0.0.0.0';
}

/** Checks a Dataplane's zone listeners: reachable addresses, unique names, unique pairs of address and port (docs/reference/kuma-rest.md §3.7). */
function checkListeners(networking: DataplaneNetworking, at: FieldPath): Violation[] {
  const { listeners = [], inbound = [], address } = networking;
  const names = new Set(inbound.map((item) => item.name || String(item.port)));
  const inboundSockets = new Set(inbound.map((item) => formatSocket(item.address ?? address, item.port)));
  const taken = new Map<string, DataplaneListener['type']>();
  return listeners.flatMap((listener, i) => {
    const socket = formatSocket(listener.address, listener.port);
    const violations = [
      ...checkHostAddress(listener.address, at.index(i).field('address')),
      ...checkSocket(listener, { inbound: inboundSockets.has(socket), other: taken.get(socket) }, at.index(i)),
      ...(listener.name !== undefined && names.has(listener.name)
        ? [
            at
              .index(i)
              .field('name')
              .violation(`must be unique among inbounds and listeners; got "${listener.name}"`, 'not-unique'),
          ]
        : []),
    ];
    taken.set(socket, listener.type);
    if (listener.name !== undefined) names.add(listener.name);
    return violations;
  });
}

function checkSocket(
  listener: DataplaneListener,
  users: { readonly inbound: boolean; readonly other: DataplaneListener['type'] | undefined },
  at: FieldPath,
): Violation[] {
  const socket = formatSocket(listener.address, listener.port);
  if (users.inbound) return [at.violation(`${socket} is already used by an inbound`)];
  if (users.other === undefined) return [];
  if (users.other === listener.type) return [at.violation(`${socket} is already used by another listener`)];
  return [at.violation(`${socket} is already used by a listener of type ${users.other}`)];
}

function formatSocket(address: string, port: number): string {
  return `${address}:${port}`;
}

type Tags = Readonly<Record<string, string>>;

const SERVICE = 'kuma.io/service';
const PROTOCOL = 'kuma.io/protocol';

/** Checks tag syntax: names, empty values, characters (docs/reference/kuma-rest.md §3.7). */
function checkTagSyntax(tags: Tags, at: FieldPath): Violation[] {
  return Object.entries(tags).flatMap(([key, value]) => {
    const field = at.field(key);
    const name = /^[A-Za-z0-9._/-]+$/.test(key)
      ? []
      : [field.violation("has a name that is not made of letters, digits, '.', '-', '_', '/'")];
    if (value === '') return [...name, field.violation('must not be empty', 'required')];
    if (/^[A-Za-z0-9._-]+$/.test(value)) return name;
    return [...name, field.violation(`must be made of letters, digits, '.', '-', '_'; got "${value}"`)];
  });
}

/** Checks an inbound's tags: syntax, a service if there are tags, a known protocol. */
function checkInboundTags(tags: Tags | undefined, at: FieldPath): Violation[] {
  if (!tags) return [];
  const protocol = tags[PROTOCOL];
  return [
    ...checkTagSyntax(tags, at),
    ...requireServiceTag(tags, at),
    ...(protocol === undefined || protocols.some((known) => known === protocol)
      ? []
      : [at.field(PROTOCOL).violation(`must be one of ${protocols.join(', ')}; got "${protocol}"`)]),
  ];
}

/** Checks a gateway's tags: syntax, a service if there are tags, no protocol except tcp. */
function checkGatewayTags(tags: Tags | undefined, at: FieldPath): Violation[] {
  if (!tags) return [];
  const protocol = tags[PROTOCOL];
  return [
    ...checkTagSyntax(tags, at),
    ...requireServiceTag(tags, at),
    ...(protocol === undefined || protocol === 'tcp'
      ? []
      : [at.field(PROTOCOL).violation(`must be tcp on a gateway; got "${protocol}"`)]),
  ];
}

function requireServiceTag(tags: Tags, at: FieldPath): Violation[] {
  if (Object.keys(tags).length === 0 || tags[SERVICE] !== undefined) return [];
  return [at.field(SERVICE).violation('is required where there are tags', 'required')];
}
