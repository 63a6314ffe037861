import type { FieldPath, Violation } from '@causeway/resources';
import { hostAddress, ipAddress } from './address-rules';
import type { Inbound, Networking, Outbound, ReachableBackend } from './dataplane-spec';
import { checkListeners } from './listener-rules';
import { checkGatewayTags, checkInboundTags, checkTagSyntax } from './tag-rules';

/** What a schema cannot say of a Dataplane's networking (rest.md §3.7, kuma-2.14.md §1 Dataplane). */
export function checkNetworking(networking: Networking, at: FieldPath): Violation[] {
  const { inbound = [], outbound = [], transparentProxying } = networking;
  const refs = transparentProxying?.reachableBackends?.refs ?? [];
  const refsAt = at.field('transparentProxying').field('reachableBackends').field('refs');
  return [
    ...hostAddress(networking.address, at.field('address')),
    ...(networking.advertisedAddress === undefined
      ? []
      : hostAddress(networking.advertisedAddress, at.field('advertisedAddress'))),
    ...checkGateway(networking, at),
    ...inbound.flatMap((item, i) => checkInbound(item, networking.address, at.field('inbound').index(i))),
    ...outbound.flatMap((item, i) => checkOutbound(item, at.field('outbound').index(i))),
    ...checkListeners(networking, at.field('listeners')),
    ...refs.flatMap((ref, i) => checkReachable(ref, refsAt.index(i))),
    ...checkAdmin(networking, at.field('admin').field('port')),
  ];
}

function checkGateway(networking: Networking, at: FieldPath): Violation[] {
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

function checkInbound(inbound: Inbound, address: string, at: FieldPath): Violation[] {
  const { serviceAddress, servicePort } = inbound;
  const ownAddress = serviceAddress === address || serviceAddress === inbound.address;
  const loops = serviceAddress !== undefined && ownAddress && (servicePort ?? inbound.port) === inbound.port;
  return [
    ...ipAddress(inbound.address, at.field('address')),
    ...ipAddress(serviceAddress, at.field('serviceAddress')),
    ...(loops
      ? [
          at
            .field('serviceAddress')
            .violation('must differ from the address, or servicePort from port: it would serve itself'),
        ]
      : []),
    ...checkInboundTags(inbound.tags, at.field('tags')),
    ...positiveTimes(inbound.serviceProbe, at.field('serviceProbe')),
  ];
}

function positiveTimes(probe: Inbound['serviceProbe'], at: FieldPath): Violation[] {
  if (!probe) return [];
  return (['interval', 'timeout'] as const)
    .filter((field) => probe[field] !== undefined && Number.parseFloat(probe[field]) <= 0)
    .map((field) => at.field(field).violation('must be longer than 0s'));
}

function checkOutbound(outbound: Outbound, at: FieldPath): Violation[] {
  const { backendRef, tags } = outbound;
  return [...ipAddress(outbound.address, at.field('address')), ...checkTarget(backendRef, tags, at)];
}

function checkTarget(ref: Outbound['backendRef'], tags: Outbound['tags'], at: FieldPath): Violation[] {
  if (ref && tags) return [at.violation('must have only one of backendRef, tags')];
  if (ref) return checkBackendRef(ref, at.field('backendRef'));
  if (!tags) return [at.field('backendRef').violation('is required', 'required')];
  const named = tags['kuma.io/service'] !== undefined;
  return [
    ...checkTagSyntax(tags, at.field('tags')),
    ...(named ? [] : [at.field('tags').field('kuma.io/service').violation('is required', 'required')]),
  ];
}

function checkBackendRef(ref: NonNullable<Outbound['backendRef']>, at: FieldPath): Violation[] {
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

/** The proxy's own admin endpoint listens on 127.0.0.1, where applications and outbounds may listen too. */
function checkAdmin(networking: Networking, at: FieldPath): Violation[] {
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
