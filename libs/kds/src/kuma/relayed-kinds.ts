import { Registry, Sync, type Kind } from '@causeway/resources';
import { opaqueKind } from './opaque-kind';

/** Where Kuma zones reach each other's services: 2.x says it as ZoneIngress, 2.14 also as MeshZoneAddress (kds.md §10.1). */
const ADDRESSES: readonly Kind[] = [
  opaqueKind({ name: 'ZoneIngress', plural: 'zoneingresses', shortName: 'zi', scope: 'global', sync: Sync.relayed }),
  opaqueKind({
    name: 'MeshZoneAddress',
    plural: 'meshzoneaddresses',
    shortName: 'mza',
    scope: 'mesh',
    sync: Sync.relayed,
  }),
];

/** The policies of Kuma that cross zones (kds.md §3.1): name, plural, short name. */
const POLICIES: readonly Kind[] = (
  [
    ['MeshAccessLog', 'meshaccesslogs', 'mal'],
    ['MeshCircuitBreaker', 'meshcircuitbreakers', 'mcb'],
    ['MeshFaultInjection', 'meshfaultinjections', 'mfi'],
    ['MeshHealthCheck', 'meshhealthchecks', 'mhc'],
    ['MeshHTTPRoute', 'meshhttproutes', 'mhttpr'],
    ['MeshLoadBalancingStrategy', 'meshloadbalancingstrategies', 'mlbs'],
    ['MeshMetric', 'meshmetrics', 'mm'],
    ['MeshPassthrough', 'meshpassthroughs', 'mpt'],
    ['MeshProxyPatch', 'meshproxypatches', 'mpp'],
    ['MeshRateLimit', 'meshratelimits', 'mrl'],
    ['MeshRetry', 'meshretries', 'mr'],
    ['MeshTCPRoute', 'meshtcproutes', 'mtcpr'],
    ['MeshTimeout', 'meshtimeouts', 'mt'],
    ['MeshTLS', 'meshtlses', 'mtls'],
    ['MeshTrace', 'meshtraces', 'mtr'],
    ['MeshTrafficPermission', 'meshtrafficpermissions', 'mtp'],
  ] as const
).map(([name, plural, shortName]) =>
  opaqueKind({ name, plural, shortName, scope: 'mesh', namespaced: true, sync: Sync.relayedPolicies }),
);

/** Kinds of Kuma that we have no word for and that its zones need of each other: stored, and passed on to Kuma zones only. */
const RELAYED: readonly Kind[] = [...ADDRESSES, ...POLICIES];

/** The kinds of a global's sync: those of the product, and those it only passes on. */
export function withRelayedKinds(registry: Registry): Registry {
  return new Registry([...registry.kinds, ...RELAYED.filter((kind) => !registry.kind(kind.name))]);
}
