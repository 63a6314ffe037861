import {
  Cluster,
  Cluster_DiscoveryType,
  ClusterLoadAssignment,
  DiscoveryRequest,
  Filter,
  HttpConnectionManager,
  Listener,
  RouteConfiguration,
  Router,
  SetFilterState,
  StringValue,
  TcpProxy,
  TlsSecret,
  UpstreamTlsContext,
} from '@causeway/proto-gen';
import { HttpFilter } from '@causeway/proto-gen/testing';
import {
  toProtoDuration,
  encodeMessage,
  pack,
  packExtension,
  packFilter,
  formatTypeUrl,
  type MessageCodec,
} from './any';
import { checkMessage } from './check-message';

/** No value of any enum. */
const UNDEFINED: number = 99;

/** `field: rule` of what Envoy would refuse. */
function broken<T, P>(type: MessageCodec<T, P>, message: P): readonly string[] {
  return checkMessage(formatTypeUrl(type), encodeMessage(type, message)).map(({ field, rule }) => `${field}: ${rule}`);
}

const route = (action: object | undefined): object => ({
  name: 'routes',
  virtualHosts: [
    { name: 'all', domains: ['*'], routes: [{ match: { pathSpecifier: { $case: 'prefix', value: '/' } }, ...action }] },
  ],
});

const address = (port: number): object => ({
  address: {
    $case: 'socketAddress',
    value: { address: '10.0.0.1', portSpecifier: { $case: 'portValue', value: port } },
  },
});

const endpoint = (port: number, group: object = {}): object => ({
  clusterName: 'redis',
  endpoints: [
    { ...group, lbEndpoints: [{ hostIdentifier: { $case: 'endpoint', value: { address: address(port) } } }] },
  ],
});

const chain = (filter: object): object => ({
  name: 'vips',
  address: address(15001),
  filterChains: [{ name: 'a', filters: [filter] }],
});

describe('what Envoy would refuse', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['a good cluster', broken(Cluster, { name: 'redis', connectTimeout: toProtoDuration(5_000) }), []],
    ['a cluster without a name', broken(Cluster, {}), ['Cluster.name: too-short']],
    [
      'no time to connect',
      broken(Cluster, { name: 'a', connectTimeout: toProtoDuration(0) }),
      ['Cluster.connect_timeout: out-of-range'],
    ],
    [
      'an undefined way of balancing',
      broken(Cluster, { name: 'a', lbPolicy: UNDEFINED }),
      ['Cluster.lb_policy: not-one-of'],
    ],
    ['a good endpoint', broken(ClusterLoadAssignment, endpoint(6379, { priority: 1 })), []],
    [
      'a port above 65535',
      broken(ClusterLoadAssignment, endpoint(70000)),
      ['ClusterLoadAssignment.endpoints[0].lb_endpoints[0].endpoint.address.socket_address.port_value: out-of-range'],
    ],
    [
      'a priority above 128',
      broken(ClusterLoadAssignment, endpoint(1, { priority: 200 })),
      ['ClusterLoadAssignment.endpoints[0].priority: out-of-range'],
    ],
    [
      'a weight of 0 in a wrapper',
      broken(ClusterLoadAssignment, endpoint(1, { loadBalancingWeight: 0 })),
      ['ClusterLoadAssignment.endpoints[0].load_balancing_weight: out-of-range'],
    ],
    [
      'a route without an action',
      broken(RouteConfiguration, route(undefined)),
      ['RouteConfiguration.virtual_hosts[0].routes[0].action: required'],
    ],
    [
      'a route without a match',
      broken(RouteConfiguration, {
        virtualHosts: [
          { name: 'a', domains: ['*'], routes: [{ action: { $case: 'nonForwardingAction', value: {} } }] },
        ],
      }),
      ['RouteConfiguration.virtual_hosts[0].routes[0].match: required'],
    ],
    [
      'a virtual host without domains',
      broken(RouteConfiguration, { virtualHosts: [{ name: 'a' }] }),
      ['RouteConfiguration.virtual_hosts[0].domains: too-few'],
    ],
    [
      'a header with a line break',
      broken(RouteConfiguration, { requestHeadersToRemove: ['x-a\nx-b'] }),
      ['RouteConfiguration.request_headers_to_remove[0]: wrong-form'],
    ],
    ['a good secret', broken(TlsSecret, { name: 'identity' }), []],
  ])('%s', (_, got, want) => expect(got).toEqual(want));

  it('lies in the messages that a listener packs, at any depth', () => {
    const hcm = packFilter('http', HttpConnectionManager, {
      routeSpecifier: { $case: 'rds', value: { routeConfigName: 'routes', configSource: undefined } },
      httpFilters: [HttpFilter.fromPartial(packFilter('router', Router, {}))],
    });
    const path = 'Listener.filter_chains[0].filters[0].typed_config<HttpConnectionManager>';
    expect(broken(Listener, chain(Filter.fromPartial(hcm)))).toEqual([
      `${path}.stat_prefix: too-short`,
      `${path}.rds.config_source: required`,
    ]);
    expect(broken(Listener, chain(packFilter('tcp', TcpProxy, { statPrefix: 'a' })))).toEqual([
      'Listener.filter_chains[0].filters[0].typed_config<TcpProxy>.cluster_specifier: required',
    ]);
  });

  it('is a type that is not known, a field that is not known, and bytes that are no message', () => {
    const unknown = { typeUrl: 'type.googleapis.com/envoy.Foo', value: Buffer.alloc(0) };
    expect(broken(Listener, chain({ name: 'x', configType: { $case: 'typedConfig', value: unknown } }))).toEqual([
      'Listener.filter_chains[0].filters[0].typed_config<Foo>: not-one-of',
    ]);
    const url = formatTypeUrl(Cluster);
    const field = Buffer.concat([encodeMessage(Cluster, { name: 'a' }), Buffer.from([0xf8, 0x3f, 1])]);
    expect(checkMessage(url, field)).toEqual([
      { field: 'Cluster', rule: 'unknown-field', reason: 'field 1023 of envoy.config.cluster.v3.Cluster is not known' },
    ]);
    for (const bytes of [Buffer.from([0x0a, 0xff]), Buffer.from([0x07]), Buffer.from([0x0a, 2, 0xc3, 0x28])])
      expect(checkMessage(url, bytes)).toMatchObject([{ field: 'Cluster', rule: 'wrong-form' }]);
    expect(checkMessage(formatTypeUrl(DiscoveryRequest), Buffer.alloc(0))).toEqual([]);
  });

  it('is bounded in depth and in number', () => {
    let any = pack(StringValue, { value: 'end' });
    for (let i = 0; i < 100; i++) any = { typeUrl: 'type.googleapis.com/google.protobuf.Any', value: encodeAny(any) };
    expect(checkMessage(any.typeUrl, any.value)).toMatchObject([{ rule: 'too-deep' }]);
    const virtualHosts = Array.from({ length: 1_000 }, () => ({}));
    expect(broken(RouteConfiguration, { virtualHosts })).toHaveLength(20);
  });

  it('is nothing in what proxies were seen to take', () => {
    const cluster = {
      name: 'redis',
      clusterDiscoveryType: { $case: 'type' as const, value: Cluster_DiscoveryType.EDS },
      edsClusterConfig: {
        serviceName: 'ingress:default/east',
        edsConfig: { configSourceSpecifier: { $case: 'ads' as const, value: {} } },
      },
      transportSocket: packFilter('tls', UpstreamTlsContext, { sni: 'sni.msvc.default.east.redis.6379' }),
      circuitBreakers: { thresholds: [{ maxConnections: 10_000, retryBudget: { budgetPercent: { value: 20 } } }] },
    };
    expect(broken(Cluster, cluster)).toEqual([]);
    const state = packFilter('state', SetFilterState, {
      onNewConnection: [
        {
          key: { $case: 'objectKey', value: 'envoy.tcp_proxy.cluster' },
          value: {
            $case: 'formatString',
            value: {
              format: { $case: 'textFormatSource', value: { specifier: { $case: 'inlineString', value: 'vip:%X%' } } },
            },
          },
        },
      ],
    });
    expect(broken(Listener, chain(state))).toEqual([]);
    expect(packExtension('a', StringValue, { value: 'a' }).name).toBe('a');
  });
});

function encodeAny(any: { typeUrl: string; value: Buffer }): Buffer {
  const url = Buffer.from(any.typeUrl);
  const length = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, ...length(n >> 7)]);
  return Buffer.concat([
    Buffer.from([0x0a, ...length(url.length)]),
    url,
    Buffer.from([0x12, ...length(any.value.length)]),
    any.value,
  ]);
}
