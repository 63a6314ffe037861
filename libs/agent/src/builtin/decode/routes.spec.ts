import { NetworkLocalRateLimit, RouteConfiguration, TcpProxy } from '@causeway/proto-gen';
import { packFilter } from '@causeway/xds-server';
import { decodeForwarding } from './filters';
import { decodeRoutes, type DecodedRoute, pickCluster } from './routes';

const WEB = 'kri_msvc_default_west__web_8080';
type Fields = Parameters<typeof RouteConfiguration.fromPartial>[0];
type RouteFields = NonNullable<NonNullable<Fields['virtualHosts']>[number]['routes']>[number];
type Action = Extract<NonNullable<RouteFields['action']>, { $case: 'route' }>['value'];

const all: RouteFields = { match: { pathSpecifier: { $case: 'prefix', value: '/' } } };
const to = (cluster: string, fields: Action = {}): RouteFields['action'] => ({
  $case: 'route',
  value: { clusterSpecifier: { $case: 'cluster', value: cluster }, ...fields },
});
const weights = (...clusters: readonly (readonly [name: string, weight: number])[]): RouteFields['action'] => ({
  $case: 'route',
  value: {
    clusterSpecifier: {
      $case: 'weightedClusters',
      value: { clusters: clusters.map(([name, weight]) => ({ name, weight })) },
    },
  },
});
const v1: RouteFields = { match: { pathSpecifier: { $case: 'path', value: '/v1' } }, action: to('v1') };

const planOf = (...routes: readonly RouteFields[]): DecodedRoute =>
  decodeRoutes(
    RouteConfiguration.encode(
      RouteConfiguration.fromPartial({
        name: WEB,
        virtualHosts: [{ name: 'all', domains: ['*'], routes: [...routes] }],
      }),
    ).finish(),
  );

describe('routes of HTTP, read by a plane that passes on bytes', () => {
  it('one route that takes every request as it is: nothing is lost', () => {
    expect(planOf({ ...all, action: to(WEB) })).toEqual({
      clusters: [{ cluster: WEB, weight: 1 }],
      unsupported: undefined,
    });
  });

  it.each<[string, RouteFields[], string]>([
    ['a route of some requests', [v1, { ...all, action: to(WEB) }], WEB],
    ['shares of requests are shares of connections', [{ ...all, action: weights(['v1', 90], ['v2', 10]) }], 'v1, v2'],
    ['no route takes every request', [v1], 'the service itself'],
    [
      'an answer of its own',
      [{ ...all, action: { $case: 'directResponse', value: { status: 500 } } }],
      'the service itself',
    ],
    ['a rewrite', [{ ...all, action: to(WEB, { prefixRewrite: '/' }) }], WEB],
    ['a mirror', [{ ...all, action: to(WEB, { requestMirrorPolicies: [{ cluster: 'v2' }] }) }], WEB],
    ['a time-out', [{ ...all, action: to(WEB, { timeout: { seconds: 1, nanos: 0 } }) }], WEB],
    ['a header', [{ ...all, action: to(WEB), requestHeadersToRemove: ['a'] }], WEB],
  ])('%s: what is lost is said, and where bytes go', (_, routes, where) => {
    const { clusters, unsupported } = planOf(...routes);
    expect(unsupported).toBe(`${routes.length} routes are for requests: bytes go to ${where}`);
    const names = clusters.map(({ cluster }) => cluster).join(', ');
    expect(names).toBe(where === 'the service itself' ? WEB : where);
  });
});

describe('shares of connections', () => {
  it('are those of the weights, exactly', () => {
    const clusters = [
      { cluster: 'a', weight: 70 },
      { cluster: 'b', weight: 30 },
      { cluster: 'c', weight: 0 },
    ];
    const drawn = Array.from({ length: 100 }, (_, i) => pickCluster(clusters, i / 100));
    const count = (name: string): number => drawn.filter((each) => each === name).length;
    expect([count('a'), count('b'), count('c')]).toEqual([70, 30, 0]);
    expect(pickCluster([], 0.5)).toBeUndefined();
    expect(pickCluster([{ cluster: 'a', weight: 0 }], 0)).toBeUndefined();
  });

  it('are read of a chain that passes on bytes', () => {
    const clusters = [
      { name: 'a', weight: 70 },
      { name: 'b', weight: 30 },
    ];
    const clusterSpecifier = { $case: 'weightedClusters' as const, value: { clusters } };
    const filter = packFilter('tcp', TcpProxy, { statPrefix: 'redis', clusterSpecifier });
    expect(decodeForwarding({ filters: [{ ...filter, disabled: false }] } as never).choice).toEqual({
      type: 'weighted',
      clusters: [
        { cluster: 'a', weight: 70 },
        { cluster: 'b', weight: 30 },
      ],
    });
  });
});

it('limits of all sources together are not kept, and said; those of each source are', () => {
  const tcp = packFilter('tcp', TcpProxy, { statPrefix: 'in', clusterSpecifier: { $case: 'cluster', value: 'a' } });
  const limitWith = (shareKey: string) => {
    const tokenBucket = { maxTokens: 2, tokensPerFill: 2, fillInterval: { seconds: 1, nanos: 0 } };
    const limit = packFilter('limit', NetworkLocalRateLimit, { statPrefix: 'in', tokenBucket, shareKey });
    return decodeForwarding({ filters: [limit, tcp].map((each) => ({ ...each, disabled: false })) });
  };
  const { limit, unsupported } = limitWith('inbound shop/web');
  expect([limit, unsupported]).toEqual([undefined, [expect.stringContaining('by source only')]]);
  expect(limitWith('')).toMatchObject({ limit: { burst: 2 }, unsupported: [] });
});
