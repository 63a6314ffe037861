import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, Cluster_DiscoveryType, ClusterLoadAssignment } from '@causeway/proto-gen';
import { silentLogger, systemClock } from '@causeway/runtime';
import { encodeResource, RESOURCE_TYPES, type EncodedResource, type EncodeResult } from '@causeway/xds-server';
import { deltaClient, type DeltaClient } from '../../../../test/support/ads-client';
import { ResourceCache } from '../resources/resource-cache';
import { LocalXdsServer } from './local-xds-server';

const { cluster, endpoints, listener } = RESOURCE_TYPES;
const PROXY = 'default.web-1';

function resourceOf(result: EncodeResult): EncodedResource {
  if (!result.ok) throw new Error(JSON.stringify(result.violations));
  return result.resource;
}
const clusterOf = (name: string, serviceName: string): EncodedResource =>
  resourceOf(
    encodeResource(Cluster, {
      name,
      edsClusterConfig: { serviceName },
      clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.EDS },
    }),
  );
const endpointsOf = (clusterName: string): EncodedResource =>
  resourceOf(encodeResource(ClusterLoadAssignment, { clusterName, endpoints: [{ locality: { zone: 'east' } }] }));

describe('the xDS server of a machine after a restart, with no control plane', () => {
  let folder: string;
  let cache: ResourceCache;
  let server: LocalXdsServer;
  let envoy: DeltaClient;
  const opened = (): Promise<ResourceCache> =>
    ResourceCache.open(join(folder, 'resources'), { clock: systemClock, logger: silentLogger });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'causeway-xds-'));
    const before = await opened();
    const received = [clusterOf('whole', 'whole'), clusterOf('cut', 'cut')];
    await before.receive({ type: cluster, resources: received, removed: [] });
    // The agent ends before it gets the endpoints of the other one.
    await before.receive({ type: endpoints, resources: [endpointsOf('whole')], removed: [] });
    await before.close();
    cache = await opened();
    server = new LocalXdsServer(join(folder, 'xds.sock'), { clock: systemClock, logger: silentLogger });
    await server.listen();
    server.serve(PROXY, cache);
    envoy = deltaClient(`unix:${server.path}`, PROXY);
  });
  afterEach(async () => {
    await envoy.close();
    await server.close();
    await cache.close();
    rmSync(folder, { recursive: true });
  });

  /** Asks as Envoy does, acks each response, and returns the received resources, in their order, once there are so many. */
  async function received(
    resources: number,
    ...asked: readonly object[]
  ): Promise<readonly (readonly [string, string, number])[]> {
    const found: (readonly [string, string, number])[] = [];
    for (const one of asked) envoy.send(one);
    for (let i = 0; found.length < resources; i++) {
      const response = await envoy.response(i);
      envoy.ack(response);
      for (const { name, resource } of response.resources) {
        const isEndpoints = response.typeUrl === endpoints && resource;
        const parts = isEndpoints ? ClusterLoadAssignment.decode(resource.value).endpoints.length : 0;
        found.push([response.typeUrl, name, parts]);
      }
    }
    return found;
  }

  it('serves endpoints right after their cluster, and before listeners', async () => {
    const all = await received(
      4,
      { typeUrl: cluster, resourceNamesSubscribe: ['*'] },
      { typeUrl: listener, resourceNamesSubscribe: ['*'] },
      { typeUrl: endpoints, resourceNamesSubscribe: ['whole', 'cut'] },
    );
    expect(all.slice(0, 2).map(([type]) => type)).toEqual([cluster, cluster]);
    expect(all.slice(2).map(([type]) => type)).toEqual([endpoints, endpoints]);
  });

  it('has what it had received, and an empty list where the disk has none: no cluster waits for ever', async () => {
    const all = await received(
      4,
      { typeUrl: cluster, resourceNamesSubscribe: ['*'] },
      {
        typeUrl: endpoints,
        resourceNamesSubscribe: ['whole', 'cut'],
      },
    );
    expect(all.filter(([type]) => type === endpoints)).toEqual([
      [endpoints, 'whole', 1],
      [endpoints, 'cut', 0],
    ]);
  });
});
