import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, Cluster_DiscoveryType, ClusterLoadAssignment } from '@causeway/proto-gen';
import { silentLogger, systemClock } from '@causeway/runtime';
import { encodeResource, RESOURCE_TYPES, type EncodedResource, type NameAnswer } from '@causeway/xds';
import { deltaClient, type DeltaClient } from '../../../../test/support/ads-client';
import { until } from '../../../../test/support/until';
import { LocalXdsServer } from '../envoy/local-xds-server';
import { ResourceCache } from './resource-cache';

const { cluster, endpoints } = RESOURCE_TYPES;
const PROXY = 'default.web-1';

/** A cluster with these endpoints, as a zone sends it to agents that resolve names. */
function named(name: string, ...hosts: readonly string[]): EncodedResource {
  const lbEndpoints = hosts.map((address) => ({
    hostIdentifier: {
      $case: 'endpoint' as const,
      value: {
        address: {
          address: {
            $case: 'socketAddress' as const,
            value: { address, portSpecifier: { $case: 'portValue' as const, value: 443 } },
          },
        },
      },
    },
    metadata: { filterMetadata: { 'envoy.transport_socket_match': { host: address } } },
  }));
  const result = encodeResource(Cluster, {
    name,
    clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.STRICT_DNS },
    respectDnsTtl: true,
    loadAssignment: { clusterName: name, endpoints: [{ lbEndpoints }] },
  });
  if (!result.ok) throw new Error(JSON.stringify(result.violations));
  return result.resource;
}

describe('names that the zone sends to an agent', () => {
  const leads = new Map<string, readonly string[]>();
  let folder = '';
  let server: LocalXdsServer;
  let cache: ResourceCache;
  let proxy: DeltaClient;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cwx-'));
    const tools = { clock: systemClock, logger: silentLogger };
    cache = await ResourceCache.open(join(folder, 'resources'), tools);
    const lookup = async (name: string): Promise<NameAnswer> => {
      await Promise.resolve();
      return { addresses: leads.get(name) ?? [], ttl: 0 };
    };
    server = new LocalXdsServer(join(folder, 'xds.sock'), {
      ...tools,
      lookup: { lookup },
      resolverLimits: { floor: 50 },
    });
    await server.listen();
    server.serve(PROXY, cache);
    proxy = deltaClient(`unix:${server.path}`, PROXY);
    proxy.send({ typeUrl: cluster, resourceNamesSubscribe: ['*'] });
    await until('it is known', () => server.isConnected(PROXY));
  });
  afterEach(async () => {
    server.forget(PROXY);
    await proxy.close();
    await server.close();
    await cache.close();
    await rm(folder, { recursive: true });
  });

  const sent = (type: string): readonly (readonly [string, Uint8Array])[] =>
    proxy.responses.flatMap(({ resources }) =>
      resources.flatMap(({ name, resource }) => (resource?.typeUrl === type ? [[name, resource.value] as const] : [])),
    );
  /** Addresses, each with the host by whose TLS it is spoken to, as the proxy has them now. */
  const addresses = (): readonly string[] => {
    const [, bytes] = sent(endpoints).at(-1) ?? [];
    if (!bytes) return ['nothing'];
    return ClusterLoadAssignment.decode(bytes).endpoints.flatMap(({ lbEndpoints }) =>
      lbEndpoints.map(({ hostIdentifier, metadata }) => {
        const at = hostIdentifier?.$case === 'endpoint' ? hostIdentifier.value.address?.address : undefined;
        const host: unknown = metadata?.filterMetadata['envoy.transport_socket_match']?.['host'];
        return `${at?.$case === 'socketAddress' ? at.value.address : ''} ${String(host)}`;
      }),
    );
  };
  let acked = 0;
  const ackAll = (): void => {
    for (; acked < proxy.responses.length; acked++) {
      const response = proxy.responses[acked];
      if (response) proxy.ack(response);
    }
  };
  const becomes = async (...want: readonly string[]): Promise<void> => {
    await until(`the proxy has ${want.join(', ')}`, () => {
      ackAll();
      return addresses().join() === want.join();
    });
  };
  beforeEach(() => (acked = 0));

  it('reach its proxies as addresses that may be dialled, checked with each answer, by the TLS of their names', async () => {
    leads.set('a.example', ['203.0.113.7', '127.0.0.1']).set('b.example', ['169.254.169.254']);
    const resource = named('c', 'a.example', 'b.example', '203.0.113.9', '127.0.0.1');
    await cache.receive({ type: cluster, resources: [resource], removed: [] });
    await until('the cluster', () => {
      ackAll();
      return sent(cluster).length > 0;
    });
    const told = Cluster.decode(sent(cluster).at(-1)?.[1] ?? new Uint8Array());
    expect(told.clusterDiscoveryType).toEqual({ $case: 'type', value: Cluster_DiscoveryType.EDS });
    expect([told.loadAssignment, told.respectDnsTtl]).toEqual([undefined, false]);
    const serviceName = told.edsClusterConfig?.serviceName ?? '';
    proxy.send({ typeUrl: endpoints, resourceNamesSubscribe: [serviceName] });
    await becomes('203.0.113.7 a.example', '203.0.113.9 203.0.113.9');
    leads.set('a.example', ['127.0.0.1']);
    await becomes('203.0.113.9 203.0.113.9');
    leads.set('a.example', ['203.0.113.8']);
    await becomes('203.0.113.8 a.example', '203.0.113.9 203.0.113.9');
    // The zone knows nothing of the endpoints that are made here.
    expect(cache.names(endpoints).size + cache.size.names).toBe(0);
  });
});
