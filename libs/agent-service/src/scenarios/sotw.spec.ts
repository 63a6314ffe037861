import { Cluster, Cluster_DiscoveryType, ClusterLoadAssignment, Listener } from '@causeway/proto-gen';
import type { DiscoveryResponse } from '@causeway/proto-gen/testing';
import { until } from '../../../../test/support/until';
import { XdsPlane } from '../../../../test/support/xds-plane';
import { RESOURCE_TYPES } from '@causeway/xds-server';

const { cluster, endpoints, listener } = RESOURCE_TYPES;

describe('a stream of the state of the world', () => {
  let plane: XdsPlane;
  beforeEach(async () => {
    plane = new XdsPlane();
    await plane.start();
  });
  afterEach(() => plane.stop());

  const clusters = ({ resources }: DiscoveryResponse): string[] =>
    resources.map(({ value }) => Cluster.decode(value).name).sort();
  const assignments = ({ resources }: DiscoveryResponse): string[] =>
    resources.map(({ value }) => ClusterLoadAssignment.decode(value).clusterName).sort();

  it('has all clusters in each response: what it lacks is gone', async () => {
    const [a] = plane.source.put(Cluster, { name: 'a' }, { name: 'b' });
    const proxy = plane.sotw();
    proxy.send({ typeUrl: cluster });
    const first = await proxy.response(0);
    expect(clusters(first)).toEqual(['a', 'b']);
    expect(first.resources[0]?.typeUrl).toBe(cluster);
    proxy.ack(first, { versionInfo: first.versionInfo });
    plane.source.put(Cluster, { name: 'c' });
    const second = await proxy.response(1);
    expect(clusters(second)).toEqual(['a', 'b', 'c']);
    proxy.ack(second, { versionInfo: second.versionInfo });
    if (a) plane.source.remove(a);
    const third = await proxy.response(2);
    expect(clusters(third)).toEqual(['b', 'c']);
    expect(new Set([first, second, third].map(({ versionInfo }) => versionInfo)).size).toBe(3);
  });

  it('has only changed endpoints, of the names asked for', async () => {
    plane.source.put(ClusterLoadAssignment, { clusterName: 'a' }, { clusterName: 'b' }, { clusterName: 'c' });
    const proxy = plane.sotw();
    proxy.send({ typeUrl: endpoints, resourceNames: ['a', 'b'] });
    const first = await proxy.response(0);
    expect(assignments(first)).toEqual(['a', 'b']);
    proxy.ack(first, { resourceNames: ['b', 'c'], versionInfo: first.versionInfo });
    const second = await proxy.response(1);
    expect(assignments(second)).toEqual(['c']);
    proxy.ack(second, { resourceNames: ['b', 'c'], versionInfo: second.versionInfo });
    plane.source.put(
      ClusterLoadAssignment,
      ...['a', 'b'].map((clusterName) => ({ clusterName, policy: { overprovisioningFactor: 200 } })),
    );
    expect(assignments(await proxy.response(2))).toEqual(['b']);
  });

  it('is answered without a listener that there is not, and with it when it comes', async () => {
    const proxy = plane.sotw();
    proxy.send({ typeUrl: listener, resourceNames: ['redis'] });
    const none = await proxy.response(0);
    expect(none.resources).toEqual([]);
    proxy.ack(none, { resourceNames: ['redis'], versionInfo: none.versionInfo });
    plane.source.put(Listener, { name: 'redis' });
    expect((await proxy.response(1)).resources).toHaveLength(1);
  });

  it('repeats the endpoints of a changed cluster alone, before the clusters are acked', async () => {
    const eds = (name: string, altStatName = ''): object => ({
      name,
      altStatName,
      clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.EDS },
    });
    plane.source.put(Cluster, eds('a'), eds('b'));
    plane.source.put(ClusterLoadAssignment, { clusterName: 'a' }, { clusterName: 'b' });
    const proxy = plane.sotw();
    proxy.send({ typeUrl: cluster });
    const first = await proxy.response(0);
    proxy.ack(first, { versionInfo: first.versionInfo });
    proxy.send({ typeUrl: endpoints, resourceNames: ['a', 'b'] });
    const second = await proxy.response(1);
    proxy.ack(second, { resourceNames: ['a', 'b'], versionInfo: second.versionInfo });
    plane.source.put(Cluster, eds('b', 'new'));
    expect(clusters(await proxy.response(2))).toEqual(['a', 'b']);
    expect(assignments(await proxy.response(3))).toEqual(['b']);
  });

  it('gets nothing where it holds all that there is, after a reconnect', async () => {
    plane.source.put(Cluster, { name: 'a' }, { name: 'b' });
    const before = plane.sotw();
    before.send({ typeUrl: cluster });
    const { versionInfo } = await before.response(0);
    await before.close();
    const responses = plane.server.counters.responses;
    const after = plane.sotw();
    after.send({ typeUrl: cluster, versionInfo });
    await until('the comparison', () => plane.server.counters.unchanged === 2);
    expect(plane.server.counters.responses).toBe(responses);
    plane.source.put(Cluster, { name: 'c' });
    expect(clusters(await after.response(0))).toEqual(['a', 'b', 'c']);
  });

  it('shows a rejection, and what changes is sent again', async () => {
    plane.source.put(Cluster, { name: 'a' });
    const proxy = plane.sotw();
    proxy.send({ typeUrl: cluster, resourceNames: ['a'] });
    proxy.nack(await proxy.response(0), 'cluster a: no', { resourceNames: ['a'] });
    await until('the rejection', () => plane.server.proxies()[0]?.types[0]?.lastRejection?.text === 'cluster a: no');
    plane.source.put(Cluster, { name: 'a', altStatName: 'b' });
    expect(clusters(await proxy.response(1))).toEqual(['a']);
  });
});
