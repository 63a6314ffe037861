import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, Cluster_DiscoveryType, ClusterLoadAssignment } from '@causeway/proto-gen';
import { silentLogger, systemClock } from '@causeway/runtime';
import { encodeResource, RESOURCE_TYPES, type EncodedResource } from '@causeway/xds-server';
import { until } from '../../../../test/support/until';
import { checkConfig } from '../config/read-config';
import { ResourceCache } from '../resources/resource-cache';
import type { CacheChange } from '../resources/resource-reader';
import { readDialFacts, type DialFacts } from './dial-facts';
import { PermittedResources } from './permitted-resources';

const { cluster, endpoints } = RESOURCE_TYPES;

function factsOf(mayDial: readonly string[] | undefined, servicePort = 6380): DialFacts {
  const services = [{ name: 'redis', port: 6379, servicePort }];
  const config = checkConfig({
    controlPlanes: ['10.0.0.1:5678'],
    ...(mayDial && { mayDial }),
    dataplanes: [{ name: 'redis-1', address: '10.0.0.7', services }],
  });
  if (!config.ok) throw new Error(JSON.stringify(config.problems));
  return readDialFacts(config.config, { dataplane: 'redis-1', authoritiesFile: undefined });
}

const host = (address: string, port: number) => ({
  hostIdentifier: {
    $case: 'endpoint' as const,
    value: {
      address: {
        address: {
          $case: 'socketAddress' as const,
          value: { address, portSpecifier: { $case: 'portValue' as const, value: port } },
        },
      },
    },
  },
});
const made = (result: ReturnType<typeof encodeResource>): EncodedResource => {
  if (!result.ok) throw new Error(JSON.stringify(result.violations));
  return result.resource;
};
/** Each of `at` is a priority. */
const assigned = (clusterName: string, ...at: readonly (readonly (readonly [string, number])[])[]) => ({
  clusterName,
  endpoints: at.map((hosts, priority) => ({ priority, lbEndpoints: hosts.map((one) => host(...one)) })),
});
const clusterAt = (name: string, type: Cluster_DiscoveryType, ...at: readonly (readonly [string, number])[]) =>
  made(
    encodeResource(Cluster, {
      name,
      clusterDiscoveryType: { $case: 'type', value: type },
      loadAssignment: assigned(name, at),
    }),
  );
const process = (port: number): EncodedResource =>
  clusterAt(`localhost:127.0.0.1:${port}`, Cluster_DiscoveryType.STATIC, ['127.0.0.1', port]);

describe('what a machine permits of what it receives', () => {
  let folder = '';
  let cache: ResourceCache;
  const tools = { clock: systemClock, logger: silentLogger };
  const opened: PermittedResources[] = [];
  const open = async (facts = factsOf(undefined)): Promise<PermittedResources> => {
    const permitted = await PermittedResources.open({ cache, facts, ...tools });
    opened.push(permitted);
    return permitted;
  };
  const tell = (permitted: PermittedResources, ...resources: readonly EncodedResource[]) =>
    permitted.receive({ type: resources[0]?.type ?? cluster, resources, removed: [] });
  /** `address:port` by priority. */
  const hostsIn = (permitted: PermittedResources, name: string, type = endpoints): readonly string[] => {
    const found = permitted.get(type, name);
    if (found === undefined || found === 'pending') return [String(found)];
    const of =
      type === endpoints ? ClusterLoadAssignment.decode(found.bytes) : Cluster.decode(found.bytes).loadAssignment;
    return (of?.endpoints ?? []).flatMap(({ priority, lbEndpoints }) =>
      lbEndpoints.map(({ hostIdentifier: id }) => {
        const at = id?.$case === 'endpoint' ? id.value.address?.address : undefined;
        return at?.$case === 'socketAddress' ? `${priority} ${at.value.address}:${at.value.portSpecifier?.value}` : '';
      }),
    );
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'causeway-dial-'));
    cache = await ResourceCache.open(join(folder, 'resources'), tools);
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) one.close();
    await cache.close();
    await rm(folder, { recursive: true });
  });

  it('refuses a resource by its name with the reason; the others, and what was good before, stay', async () => {
    const permitted = await open();
    const taken: CacheChange[] = [];
    permitted.useApplier((change) => {
      taken.push(change);
      return Promise.resolve(undefined);
    });
    const good = process(6380);
    const bad = process(5681);
    expect(await tell(permitted, bad, good)).toBe(
      `${bad.name}: agent.yaml names no service with the process 127.0.0.1:5681: inbounds lead to 127.0.0.1:6380`,
    );
    expect(taken).toEqual([{ type: cluster, names: [good.name, bad.name] }]);
    expect([permitted.get(cluster, bad.name), permitted.get(cluster, good.name)]).toEqual([undefined, good]);
    const stolen = clusterAt(good.name, Cluster_DiscoveryType.STATIC, ['127.0.0.1', 5681]);
    expect(await tell(permitted, stolen)).toContain('names no service');
    expect(permitted.get(cluster, good.name)).toEqual(good);
    expect(permitted.refused.map(({ name }) => name)).toEqual([bad.name, good.name]);
    expect(await tell(permitted, good)).toBeUndefined();
    await permitted.receive({ type: cluster, resources: [], removed: [bad.name] });
    expect(permitted.refused).toEqual([]);
  });

  it('answers who waits for a resource that is refused', async () => {
    const permitted = await open();
    cache.connected(true);
    const unknown = clusterAt('vip:1', Cluster_DiscoveryType.ORIGINAL_DST);
    permitted.want(cluster, ['vip:1']);
    expect(permitted.get(cluster, 'vip:1')).toBe('pending');
    expect(await tell(permitted, unknown)).toContain('vip:1: type: must be EDS, STATIC or STRICT_DNS');
    expect(permitted.get(cluster, 'vip:1')).toBeUndefined();
  });

  it('leaves out hosts that are not dialled, without a gap between priorities; its own services are', async () => {
    const permitted = await open();
    const all = assigned(
      'web',
      [['127.0.0.1', 80]],
      [
        ['10.0.0.9', 80],
        ['169.254.169.254', 80],
      ],
      [['127.0.0.1', 6380]],
    );
    expect(await tell(permitted, made(encodeResource(ClusterLoadAssignment, all)))).toBeUndefined();
    expect(hostsIn(permitted, 'web')).toEqual(['0 10.0.0.9:80', '1 127.0.0.1:6380']);
    expect(permitted.refused).toEqual([
      { name: 'web', what: '127.0.0.1:80, 169.254.169.254:80 not dialled: mayDial of agent.yaml does not allow it' },
    ]);
    const only = clusterAt('vip:1', Cluster_DiscoveryType.STATIC, ['::ffff:127.0.0.1', 80]);
    expect(await tell(permitted, only)).toBeUndefined();
    expect([hostsIn(permitted, 'vip:1', cluster), permitted.names(cluster).has('vip:1')]).toEqual([[], true]);
  });

  it('resolves the names of hosts itself, and checks each address after the resolution', async () => {
    const permitted = await open(factsOf(['default', '127.0.0.1']));
    const changes: CacheChange[] = [];
    permitted.subscribe((change) => changes.push(change));
    const named = clusterAt('out', Cluster_DiscoveryType.STRICT_DNS, ['localhost', 80], ['10.0.0.9', 81]);
    expect(await tell(permitted, named)).toBeUndefined();
    const served = permitted.get(cluster, 'out');
    const { clusterDiscoveryType, loadAssignment } = Cluster.decode(
      served === undefined || served === 'pending' ? Buffer.alloc(0) : served.bytes,
    );
    expect([clusterDiscoveryType?.value, loadAssignment]).toEqual([Cluster_DiscoveryType.EDS, undefined]);
    expect(served).toMatchObject({ endpointsName: 'resolved:out' });
    expect(hostsIn(permitted, 'resolved:out')).toEqual(['0 127.0.0.1:80', '0 10.0.0.9:81']);
    expect(await permitted.update(factsOf(undefined), 0)).toBe(true);
    expect(hostsIn(permitted, 'resolved:out')).toEqual(['0 10.0.0.9:81']);
    expect(permitted.refused).toEqual([{ name: 'out', what: expect.stringContaining('127.0.0.1:80 (localhost) not') }]);
    expect(changes.filter(({ type }) => type === endpoints).flatMap(({ names }) => names)).toContain('resolved:out');
    // They are made here: no zone is asked for them.
    permitted.want(endpoints, ['resolved:out']);
    expect(cache.size.names).toBe(0);
  });

  it('checks anew what it holds after a start, and when its file changes: a service that is gone has its last requests', async () => {
    let permitted = await open();
    await tell(permitted, process(6380));
    permitted = await open(factsOf(undefined, 7000));
    expect(permitted.get(cluster, process(6380).name)).toBeUndefined();
    expect(await tell(permitted, process(7000))).toBeUndefined();
    expect(await permitted.update(factsOf(undefined, 7000), 50)).toBe(false);
    expect(await permitted.update(factsOf(undefined, 7001), 50)).toBe(true);
    expect(permitted.get(cluster, process(7000).name)).toBeDefined();
    await until('it is gone', () => permitted.get(cluster, process(7000).name) === undefined);
  });
});
