import { Sync, defineKind, type Kind } from '@causeway/resources';
import { Type } from 'typebox';

/** Maximum size of the spec of a relayed resource. Kuma's policies may be large, and no part of them is read here. */
const MAX_BYTES = 1024 * 1024;

/** Returns a kind of which only name and sync rule are known: any spec up to `MAX_BYTES` is valid. */
function opaqueKind(
  kind: Pick<Kind, 'name' | 'plural' | 'shortName' | 'scope' | 'sync'> & Partial<Pick<Kind, 'namespaced'>>,
): Kind {
  return defineKind({
    ...kind,
    bounds: { bytes: MAX_BYTES },
    spec: Type.Record(Type.String(), Type.Unknown(), {
      maxProperties: 1_024,
      propertyNames: { maxLength: 1_024, pattern: '^.*$' },
    }),
  });
}

/**
 * Kuma's policies that cross zones and have no kind here: stored, and sent to Kuma zones only (docs/reference/kds-wire.md §3.1): name, plural, short
 * name.
 */
export const relayedKinds: readonly Kind[] = (
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
