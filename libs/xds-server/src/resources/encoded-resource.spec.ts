import { Cluster, Cluster_DiscoveryType, ClusterLoadAssignment, TlsSecret } from '@causeway/proto-gen';
import { encodeResource, RESOURCE_TYPES, type EncodedResource, type EncodeResult } from './encoded-resource';

/** No value of any enum. */
const UNDEFINED: number = 99;

function encoded(result: EncodeResult): EncodedResource {
  if (!result.ok) throw new Error(JSON.stringify(result.violations));
  return result.resource;
}

describe('an encoded resource', () => {
  it('has the name of its message and a version by content', () => {
    const first = encoded(encodeResource(ClusterLoadAssignment, { clusterName: 'redis' }));
    expect(first).toMatchObject({ type: RESOURCE_TYPES.endpoints, name: 'redis' });
    expect(encoded(encodeResource(ClusterLoadAssignment, { clusterName: 'redis' })).version).toBe(first.version);
    const other = encodeResource(ClusterLoadAssignment, {
      clusterName: 'redis',
      policy: { weightedPriorityHealth: true },
    });
    expect(encoded(other).version).not.toBe(first.version);
  });

  it('is the same object while its content stays', () => {
    const first = encoded(encodeResource(Cluster, { name: 'redis' }));
    expect(encoded(encodeResource(Cluster, { name: 'redis' }, first))).toBe(first);
    expect(encoded(encodeResource(Cluster, { name: 'redis', altStatName: 'r' }, first))).not.toBe(first);
  });

  it('says which endpoints a cluster has', () => {
    const eds = { $case: 'type' as const, value: Cluster_DiscoveryType.EDS };
    const own = encoded(encodeResource(Cluster, { name: 'a', clusterDiscoveryType: eds }));
    expect(own.endpointsName).toBe('a');
    const shared = { name: 'a', clusterDiscoveryType: eds, edsClusterConfig: { serviceName: 'ingress:default/east' } };
    expect(encoded(encodeResource(Cluster, shared)).endpointsName).toBe('ingress:default/east');
    expect(encoded(encodeResource(Cluster, { name: 'static' })).endpointsName).toBeUndefined();
  });

  it('is refused where Envoy would refuse it, and without a name', () => {
    expect(encodeResource(Cluster, { name: 'a', lbPolicy: UNDEFINED })).toMatchObject({
      ok: false,
      violations: [{ field: 'Cluster.lb_policy', rule: 'not-one-of' }],
    });
    expect(encodeResource(TlsSecret, {})).toMatchObject({ ok: false, violations: [{ field: 'name' }] });
  });
});
