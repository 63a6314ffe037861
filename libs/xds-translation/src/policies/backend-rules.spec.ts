import {
  Cluster,
  Cluster_LbPolicy,
  ClusterLoadAssignment,
  HttpLocalRateLimit,
  NetworkLocalRateLimit,
} from '@causeway/proto-gen';
import type { CircuitBreakerSpec, LoadBalancingSpec, RateLimitSpec } from '@causeway/policies';
import type { Identity } from '@causeway/resources';
import { destinationCluster } from '../messages/clusters';
import { destinationEndpoints } from '../messages/endpoints';
import type { Destination, LocalEndpoint, RemoteZone } from '../model/destination';
import { toProtoDuration, encodeResource } from '@causeway/xds-server';
import { formatTypeUrl } from '@causeway/xds-server/testing';
import { BackendPolicies } from './backend-policies';
import type { BackendRules } from './cluster-rules';
import { hashPolicies } from './hash-policies';
import { LIMITED_BY, rateLimitFilters } from './rate-limits';

const REDIS: Identity = { kind: 'MeshService', mesh: 'default', zone: 'west', namespace: 'shop', name: 'redis' };

const instance = (last: number): LocalEndpoint => ({
  address: `192.0.2.${last}`,
  port: 6379,
  ready: true,
  plaintext: false,
  takesPlaintext: false,
});
const away = (zone: string, instances = 1, more: Partial<RemoteZone> = {}): RemoteZone => ({
  zone,
  instances,
  sni: 'kri',
  depreferred: false,
  ...more,
});

function destination(given: Partial<Destination>): Destination {
  return {
    name: 'kri_redis',
    service: REDIS,
    labels: {},
    port: 6379,
    section: '6379',
    protocol: 'http',
    vip: '',
    hostnames: [],
    identities: ['spiffe://d/redis'],
    sni: { kri: 'sni.redis', hash: '' },
    createdAt: 1,
    servedHere: true,
    local: [],
    localNames: [],
    remote: [],
    ...given,
  };
}

/** A cluster as Envoy reads it. */
function cluster(given: Partial<Destination>, rules: BackendRules): Cluster {
  const fields = destinationCluster('c', destination(given), { zone: 'west', rules });
  const encoded = encodeResource(Cluster, fields, undefined);
  if (!encoded.ok) throw new Error(JSON.stringify(encoded.violations));
  return Cluster.fromPartial(fields);
}

const two = [instance(1), instance(2)];
const breaker = (spec: CircuitBreakerSpec): BackendRules => ({ breaker: spec });

describe('circuit breakers in clusters', () => {
  it('limits are those of the policy, and none where it says nothing', () => {
    const { circuitBreakers } = cluster({ local: two }, breaker({ limits: { connections: 3, requests: 5 } }));
    expect(circuitBreakers?.thresholds).toEqual([
      expect.objectContaining({ priority: 0, maxConnections: 3, maxRequests: 5 }),
    ]);
    expect(circuitBreakers?.thresholds[0]).toMatchObject({ maxPendingRequests: 1_000_000, maxRetries: 1_000_000 });
  });

  const ejection = { consecutiveErrors: 3, consecutiveGatewayErrors: 2, interval: '1s', time: '10m', maxPercent: 40 };

  it.each<[string, Partial<Destination>, object]>([
    [
      'instances: by answers and by failures to connect',
      { local: two },
      {
        consecutive5xx: 3,
        enforcingConsecutive5xx: 100,
        consecutiveGatewayFailure: 2,
        enforcingConsecutiveGatewayFailure: 100,
        consecutiveLocalOriginFailure: 3,
        interval: toProtoDuration(1_000),
        baseEjectionTime: toProtoDuration(600_000),
        maxEjectionTime: toProtoDuration(600_000),
        maxEjectionPercent: 40,
      },
    ],
    [
      'instances and the ingress of another zone: by failures to connect only',
      { local: two, remote: [away('east')] },
      {
        enforcingConsecutive5xx: 0,
        enforcingConsecutiveGatewayFailure: 0,
        consecutiveLocalOriginFailure: 3,
        splitExternalLocalOriginErrors: true,
      },
    ],
    [
      'endpoints outside the mesh are instances',
      {
        service: { ...REDIS, kind: 'MeshExternalService' },
        external: { endpoints: [{ host: '192.0.2.9', port: 80, priority: 0, locality: '' } as never] },
      },
      { enforcingConsecutive5xx: 100 },
    ],
  ])('%s', (_, given, want) => {
    expect(cluster(given, breaker({ ejection })).outlierDetection).toMatchObject(want);
  });

  it('ingresses of other zones are never left out', () => {
    const { outlierDetection } = cluster({ remote: [away('east'), away('north')] }, breaker({ ejection }));
    expect(outlierDetection).toBeUndefined();
  });

  it('without a policy endpoints are left out that cannot be reached, whatever they answer', () => {
    expect(cluster({ local: two }, {}).outlierDetection).toMatchObject({ enforcingConsecutive5xx: 0 });
    expect(cluster({ local: [instance(1)] }, {}).outlierDetection).toBeUndefined();
  });
});

describe('load balancing', () => {
  it.each(['RoundRobin', 'LeastRequest', 'Random', 'RingHash', 'Maglev'] as const)('%s', (algorithm) => {
    const names = { RoundRobin: 'ROUND_ROBIN', LeastRequest: 'LEAST_REQUEST', Random: 'RANDOM' } as const;
    const name = { ...names, RingHash: 'RING_HASH', Maglev: 'MAGLEV' } as const;
    const { lbPolicy } = cluster({ local: two }, { balancing: { algorithm } });
    expect(lbPolicy).toBe(Cluster_LbPolicy[name[algorithm]]);
  });

  const zones = { local: two, remote: [away('east', 3), away('north', 5), away('south', 7, { depreferred: true })] };
  it.each<[string, LoadBalancingSpec['locality'], string]>([
    ['by default', undefined, 'west:0:2 east:1:3 north:1:5 south:2:7'],
    ['failover by name', { failover: ['north', 'nowhere', 'east'] }, 'west:0:2 north:1:5 east:2:3 south:3:7'],
    ['zones that are not named come last', { failover: ['north'] }, 'west:0:2 north:1:5 east:2:3 south:3:7'],
    ['the own zone as any other', { localFirst: false }, 'west:0:2 east:0:3 north:0:5 south:1:7'],
    [
      'the own zone where it is named',
      { localFirst: false, failover: ['east', 'west'] },
      'east:0:3 west:1:2 north:2:5 south:3:7',
    ],
    ['weights', { localFirst: false, weights: { west: 9, north: 0 } }, 'west:0:9 east:0:1 south:1:1'],
    ['weights within a rank', { weights: { east: 90, north: 10 } }, 'west:0:1 east:1:90 north:1:10 south:2:1'],
    ['nothing here', { weights: { west: 0 } }, 'east:0:1 north:0:1 south:1:1'],
  ])('zones: %s', (_, locality, want) => {
    const findIngressEndpoint = (_mesh: string, zone: string) => ({
      addresses: [{ address: '198.51.100.1', port: 1 }],
      names: [],
      sni: 'kri' as const,
      depreferred: false,
      zone,
    });
    const fields = destinationEndpoints(destination(zones), 'west', findIngressEndpoint, locality);
    const found = ClusterLoadAssignment.fromPartial(fields).endpoints.map(
      ({ locality: at, priority, loadBalancingWeight }) => `${at?.zone}:${priority}:${loadBalancingWeight}`,
    );
    expect([...found].sort().join(' ')).toBe(want.split(' ').sort().join(' '));
    const { commonLbConfig } = cluster(zones, { balancing: { ...(locality && { locality }) } });
    const isByZone = locality?.weights !== undefined || locality?.localFirst === false;
    expect(commonLbConfig?.localityConfigSpecifier?.$case).toBe(isByZone ? 'localityWeightedLbConfig' : undefined);
  });

  it('a zone that alone serves is entered as for all its services, unless nothing is to go there', () => {
    const nameOf = (locality: LoadBalancingSpec['locality']) =>
      cluster({ remote: [away('east')] }, { balancing: { ...(locality && { locality }) } }).edsClusterConfig
        ?.serviceName;
    expect(nameOf({ failover: ['east'], weights: { east: 5 } })).toBe('ingress:default/east');
    expect(nameOf({ weights: { east: 0 } })).toBe('kri_redis');
  });

  it('a hash is of all that the policy names, where the algorithm asks for one', () => {
    const hash = [
      { header: 'x-user' },
      { cookie: 'c', ttl: '1m' },
      { sourceAddress: true as const, queryParameter: 'q' },
    ];
    expect(hashPolicies({ algorithm: 'Maglev', hash }).map(({ policySpecifier }) => policySpecifier)).toEqual([
      { $case: 'header', value: { headerName: 'x-user' } },
      { $case: 'cookie', value: { name: 'c', ttl: toProtoDuration(60_000), path: '/' } },
      { $case: 'connectionProperties', value: { sourceIp: true } },
      { $case: 'queryParameter', value: { name: 'q' } },
    ]);
    expect(hashPolicies({ algorithm: 'LeastRequest', hash })).toEqual([]);
    expect(hashPolicies({ hash })).toEqual([]);
    expect(hashPolicies(undefined)).toEqual([]);
  });
});

describe('limits of an inbound', () => {
  const spec: RateLimitSpec = { requests: { count: 5, per: '1m' }, connections: { count: 2 } };
  const filters = rateLimitFilters('inbound:192.0.2.1:80', [{ service: REDIS, spec }]);
  const chain = { statPrefix: 'inbound:192.0.2.1:80:plaintext', isTls: false };

  it('requests by a filter of requests, connections by one of connections, shared by all chains', () => {
    const { network, http } = filters({ ...chain, isHttp: true });
    expect(network.map(({ configType }) => configType.value.typeUrl)).toEqual([formatTypeUrl(NetworkLocalRateLimit)]);
    expect(http.map(({ configType }) => configType.value.typeUrl)).toEqual([formatTypeUrl(HttpLocalRateLimit)]);
    expect(NetworkLocalRateLimit.decode(network[0]?.configType.value.value ?? new Uint8Array())).toMatchObject({
      tokenBucket: { maxTokens: 2, tokensPerFill: 2, fillInterval: toProtoDuration(1_000) },
      shareKey: 'inbound:192.0.2.1:80 shop/redis',
    });
    expect(HttpLocalRateLimit.decode(http[0]?.configType.value.value ?? new Uint8Array())).toMatchObject({
      status: { code: 429 },
      tokenBucket: { maxTokens: 5, tokensPerFill: 5, fillInterval: toProtoDuration(60_000) },
      responseHeadersToAdd: [{ header: { key: LIMITED_BY, value: 'shop/redis' } }],
    });
  });

  it('an inbound of bytes has no requests', () => {
    expect(filters({ ...chain, isHttp: false }).http).toEqual([]);
  });
});

it('policies are read by kind; several ports of one service count once, a spec that does not fit not at all', () => {
  const specs: Record<string, object> = {
    CircuitBreakerPolicy: { limits: { requests: 1 } },
    LoadBalancingPolicy: { algorithm: 'Best' },
    RateLimitPolicy: { requests: { count: 1 } },
  };
  const policies = new BackendPolicies({ effectiveOfBackend: (kind) => ({ spec: { ...specs[kind] } }) });
  expect(policies.getRules({ service: REDIS, port: 80 })).toEqual({ breaker: { limits: { requests: 1 } } });
  const other = { ...REDIS, name: 'other' };
  const ports = [80, 81].map((port) => ({ service: REDIS, port }));
  const found = policies.limitsAt([...ports, { service: other, port: 80 }]);
  expect(found.map(({ service }) => service.name)).toEqual(['redis', 'other']);
});
