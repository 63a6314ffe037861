import {
  Cluster,
  Cluster_DiscoveryType,
  ClusterLoadAssignment,
  HttpConnectionManager,
  Listener,
  RouteConfiguration,
  SetFilterState,
  TcpProxy,
  TlsSecret,
  TrafficDirection,
} from '@causeway/proto-gen';
import { encodeMessage, packFilter, RESOURCE_TYPES, type MessageCodec } from '@causeway/xds-server';
import { formatTypeUrl } from '@causeway/xds-server/testing';
import { checkConfig } from '../config/read-config';
import { readDialFacts, type DialFacts } from './dial-facts';
import { findRefusal } from './resource-rules';

const config = checkConfig({
  controlPlanes: ['10.0.0.1:5678'],
  dataplanes: [
    {
      name: 'redis-1',
      address: '10.0.0.7',
      services: [
        { name: 'redis', port: 6379, servicePort: 6380 },
        { name: 'admin', port: 9000, servicePort: 9001 },
      ],
      outbounds: [{ address: '10.0.0.7', port: 10_001, backend: { name: 'web' } }],
    },
    { name: 'other-1', address: '10.0.0.7', services: [{ name: 'other', port: 7000, servicePort: 7001 }] },
  ],
});
if (!config.ok) throw new Error(JSON.stringify(config.problems));
const FACTS: DialFacts = readDialFacts(config.config, {
  dataplane: 'redis-1',
  redirect: { port: 15_001, reentryPort: 15_011 },
  authoritiesFile: '/etc/ca.pem',
});

const socket = (address: string, port: number, more: object = {}) => ({
  address: {
    $case: 'socketAddress' as const,
    value: { address, portSpecifier: { $case: 'portValue' as const, value: port }, ...more },
  },
});
const host = (address: unknown) => ({ hostIdentifier: { $case: 'endpoint' as const, value: { address } } });
const loads = (...addresses: readonly unknown[]) => ({
  clusterName: 'c',
  endpoints: [{ lbEndpoints: addresses.map(host) }],
});
const STATIC = { $case: 'type' as const, value: Cluster_DiscoveryType.STATIC };

function refused<T, P>(type: MessageCodec<T, P>, message: unknown, name: string, facts = FACTS): string | undefined {
  const bytes = encodeMessage(type, Object(message));
  return findRefusal({ type: formatTypeUrl(type), name, version: '1', bytes }, facts);
}
const ofCluster = (name: string, more: object, facts = FACTS): string | undefined =>
  refused(Cluster, { name, clusterDiscoveryType: STATIC, ...more }, name, facts);
const toProcess = (name: string, ...addresses: readonly unknown[]): string | undefined =>
  ofCluster(name, { loadAssignment: loads(...addresses) });
const tcp = (cluster: string, more: object = {}) =>
  packFilter('tcp', TcpProxy, { statPrefix: 's', clusterSpecifier: { $case: 'cluster', value: cluster }, ...more });
const route = (action: object) =>
  packFilter('http', HttpConnectionManager, {
    statPrefix: 's',
    routeSpecifier: {
      $case: 'routeConfig',
      value: {
        name: 'r',
        virtualHosts: [
          {
            name: 'v',
            domains: ['*'],
            routes: [
              {
                match: { pathSpecifier: { $case: 'prefix', value: '/' } },
                action: { $case: 'route', value: action },
              },
            ],
          },
        ],
      },
    },
  });
const listens = (name: string, at: readonly [string, number], filters: readonly unknown[], more: object = {}) =>
  refused(Listener, { name, address: socket(...at), filterChains: [{ filters }], ...more }, name);
const INBOUND = ['10.0.0.7', 6379] as const;

describe('the cluster of a process behind an inbound', () => {
  it.each(['localhost:127.0.0.1:6380', 'localhost-http2:127.0.0.1:6380'])(
    'is that of a service of the file: %s',
    (name) => expect(toProcess(name, socket('127.0.0.1', 6380))).toBeUndefined(),
  );

  it.each([
    ['the REST interface of a zone', 'localhost:127.0.0.1:5681', [socket('127.0.0.1', 5681)]],
    ['metadata of a cloud', 'localhost:169.254.169.254:80', [socket('169.254.169.254', 80)]],
    ['a place by the name of another one', 'localhost:127.0.0.1:6380', [socket('127.0.0.1', 5681)]],
    ['a second place', 'localhost:127.0.0.1:6380', [socket('127.0.0.1', 6380), socket('127.0.0.1', 5681)]],
    ['the process of another Dataplane', 'localhost:127.0.0.1:7001', [socket('127.0.0.1', 7001)]],
  ])('is refused where it leads to %s', (_, name, addresses) =>
    expect(toProcess(name, ...addresses)).toMatch(
      /^agent\.yaml names no service with the process [\d.:, ]+: inbounds lead to 127\.0\.0\.1:6380, 127\.0\.0\.1:9001$/,
    ),
  );

  it('holds its host: no endpoints of elsewhere, no name', () => {
    const eds = { $case: 'type', value: Cluster_DiscoveryType.EDS };
    const name = 'localhost:127.0.0.1:6380';
    expect(ofCluster(name, { clusterDiscoveryType: eds, edsClusterConfig: {} })).toContain('names no service');
    const dns = { $case: 'type', value: Cluster_DiscoveryType.STRICT_DNS };
    const loadAssignment = loads(socket('localhost', 6380));
    expect(ofCluster(name, { clusterDiscoveryType: dns, loadAssignment })).toContain('names no service');
  });
});

describe('any cluster', () => {
  it.each<[string, object]>([
    ['hosts somewhere', { loadAssignment: loads(socket('10.0.0.9', 80), socket('127.0.0.1', 15_011)) }],
    [
      'endpoints of the agent',
      { clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.EDS }, edsClusterConfig: {} },
    ],
    [
      'names',
      {
        clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.STRICT_DNS },
        loadAssignment: loads(socket('example.com', 443)),
      },
    ],
  ])('may have %s', (_, more) => expect(ofCluster('vip:241.0.0.1:80', more)).toBeUndefined());

  it.each<[string, object, string]>([
    [
      'the address that the client dialled',
      { clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.ORIGINAL_DST } },
      'type: must be EDS',
    ],
    [
      'a type of its own',
      { clusterDiscoveryType: { $case: 'clusterType', value: { name: 'envoy.clusters.dynamic_forward_proxy' } } },
      'cluster_type: ',
    ],
    [
      'a unix socket',
      { loadAssignment: loads({ address: { $case: 'pipe', value: { path: '/var/run/docker.sock' } } }) },
      'a unix socket is neither dialled',
    ],
    [
      'an internal listener',
      {
        loadAssignment: loads({
          address: {
            $case: 'envoyInternalAddress',
            value: { addressNameSpecifier: { $case: 'serverListenerName', value: 'x' } },
          },
        }),
      },
      'an internal listener is not dialled',
    ],
    ['UDP', { loadAssignment: loads(socket('10.0.0.9', 53, { protocol: 1 })) }, 'protocol: must be TCP'],
    [
      'a resolver of its own',
      { loadAssignment: loads(socket('10.0.0.9', 53, { resolverName: 'x' })) },
      'resolver_name: ',
    ],
    ['a source address', { upstreamBindConfig: { sourceAddress: { address: '10.0.0.7' } } }, 'connections begin'],
  ])('is refused with %s', (_, more, reason) => expect(ofCluster('web', more)).toContain(reason));

  it('is refused by another name than it has', () => {
    const bytes = encodeMessage(Cluster, { name: 'localhost:127.0.0.1:5681' });
    const resource = { type: RESOURCE_TYPES.cluster, name: 'web', version: '1', bytes };
    expect(findRefusal(resource, FACTS)).toBe('Cluster: is of another name: "localhost:127.0.0.1:5681"');
  });

  it('is refused with what this agent does not know: it could lead elsewhere', () => {
    const bytes = Buffer.concat([encodeMessage(Cluster, { name: 'web' }), Buffer.from([0xfa, 0x3e, 0x01, 0x00])]);
    expect(findRefusal({ type: RESOURCE_TYPES.cluster, name: 'web', version: '1', bytes }, FACTS)).toMatch(
      /is not known$/,
    );
  });
});

describe('an inbound', () => {
  it.each([
    ['bytes', [tcp('localhost:127.0.0.1:6380')]],
    ['HTTP/2', [route({ clusterSpecifier: { $case: 'cluster', value: 'localhost-http2:127.0.0.1:6380' } })]],
    ['nowhere', [tcp('none')]],
  ])('leads to the process of its service: %s', (_, filters) =>
    expect(listens('inbound:10.0.0.7:6379', INBOUND, filters)).toBeUndefined(),
  );

  it.each<[string, readonly unknown[]]>([
    ['another cluster', [tcp('web')]],
    ['the process of another service', [tcp('localhost:127.0.0.1:9001')]],
    [
      'a mirror',
      [
        route({
          clusterSpecifier: { $case: 'cluster', value: 'localhost:127.0.0.1:6380' },
          requestMirrorPolicies: [{ cluster: 'web' }],
        }),
      ],
    ],
    [
      'shares',
      [
        tcp('', {
          clusterSpecifier: { $case: 'weightedClusters', value: { clusters: [{ name: 'web', weight: 1 }] } },
        }),
      ],
    ],
    ['what a header says', [route({ clusterSpecifier: { $case: 'clusterHeader', value: 'x-to' } })]],
    [
      'what a filter says',
      [packFilter('state', SetFilterState, { onNewConnection: [] }), tcp('localhost:127.0.0.1:6380')],
    ],
  ])('is refused where it leads to %s, by whatever name it listens', (_, filters) => {
    for (const name of ['inbound:10.0.0.7:6379', 'outbound:10.0.0.7:6379'])
      expect(listens(name, INBOUND, filters)).toMatch(/\(agent\.yaml\)$/);
  });

  it('is refused where the file names no service', () => {
    const filters = [tcp('localhost:127.0.0.1:6380')];
    const refusal = 'address: agent.yaml names no service at 10.0.0.7:22: inbounds are 10.0.0.7:6379, 10.0.0.7:9000';
    expect(listens('inbound:10.0.0.7:22', ['10.0.0.7', 22], filters)).toBe(refusal);
    const claims = { trafficDirection: TrafficDirection.INBOUND };
    expect(listens('x', ['10.0.0.7', 22], filters, claims)).toBe(refusal);
  });

  it('is none of an ingress, which leads to hosts of its zone', () => {
    const facts = readDialFacts(config.config, { dataplane: undefined, authoritiesFile: undefined });
    const listener = {
      name: 'ingress:10.0.0.7:10001',
      address: socket('10.0.0.7', 10_001),
      trafficDirection: TrafficDirection.INBOUND,
      filterChains: [{ filters: [tcp('in:x')] }],
    };
    expect(refused(Listener, listener, listener.name, facts)).toBeUndefined();
  });

  it('is not opened by another listener: others reach no more of this machine than its file names', () => {
    const filters = [tcp('web')];
    for (const at of ['10.0.0.7', '0.0.0.0', '::'])
      expect(listens('outbound:x', [at, 8080], filters)).toContain('nothing of agent.yaml listens at');
    expect(listens('outbound:241.0.0.1:80', ['241.0.0.1', 80], filters)).toBeUndefined();
    expect(listens('explicit:10.0.0.7:10001', ['10.0.0.7', 10_001], filters)).toBeUndefined();
    expect(listens('outbound', ['127.0.0.1', 15_001], filters)).toBeUndefined();
  });
});

describe('files', () => {
  const secret = (filename: string): string | undefined =>
    refused(
      TlsSecret,
      {
        name: 'identity',
        type: { $case: 'tlsCertificate', value: { privateKey: { specifier: { $case: 'filename', value: filename } } } },
      },
      'identity',
    );

  it('are read where they are known', () => {
    expect(secret('/etc/ca.pem')).toBeUndefined();
    expect(secret('/etc/shadow')).toContain('filename: "/etc/shadow" is not read');
  });

  it('are not answered to requests', () => {
    const body = { specifier: { $case: 'filename', value: '/etc/shadow' } };
    const action = { $case: 'directResponse', value: { status: 200, body } };
    const routes = [{ match: { pathSpecifier: { $case: 'prefix', value: '/' } }, action }];
    const found = refused(
      RouteConfiguration,
      { name: 'r', virtualHosts: [{ name: 'v', domains: ['*'], routes }] },
      'r',
    );
    expect(found).toContain('filename: "/etc/shadow" is not read');
  });
});

it('endpoints have no unix socket either', () => {
  const found = refused(
    ClusterLoadAssignment,
    { ...loads({ address: { $case: 'pipe', value: { path: '/run/x.sock' } } }), clusterName: 'web' },
    'web',
  );
  expect(found).toContain('a unix socket is neither dialled');
});
