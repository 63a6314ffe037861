import {
  Cluster,
  Cluster_DiscoveryType,
  ClusterLoadAssignment,
  Listener,
  RouteConfiguration,
} from '@causeway/proto-gen';
import type { DeltaClient } from '../../../../test/support/ads-client';
import { until } from '../../../../test/support/until';
import { XdsPlane } from '../../../../test/support/xds-plane';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import { CHUNK_BYTES } from '@causeway/xds-server/testing';

const { cluster, endpoints, listener, routes, secret } = RESOURCE_TYPES;

const eds = (name: string, altStatName = ''): object => ({
  name,
  altStatName,
  clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.EDS },
});
const listening = (name: string): object => ({ name, useOriginalDst: false });

describe('a delta stream', () => {
  let plane: XdsPlane;
  beforeEach(async () => {
    plane = new XdsPlane();
    await plane.start();
  });
  afterEach(() => plane.stop());

  const names = (response: { resources: readonly { name: string }[] }): string[] =>
    response.resources.map(({ name }) => name).sort();

  /** Acks all responses until no more come; resolves with their number. */
  async function settled(proxy: DeltaClient): Promise<number> {
    let acked = 0;
    await until('all acks', () => {
      for (; acked < proxy.responses.length; acked++) {
        const response = proxy.responses[acked];
        if (response) proxy.ack(response);
      }
      const types = plane.server.proxies()[0]?.types ?? [];
      return types.length === 4 && types.every(({ ackedRevision }) => ackedRevision === plane.source.revision);
    });
    return acked;
  }

  it('is sent what a wildcard lists, what changes in it, and what goes', async () => {
    const [a] = plane.source.put(Cluster, { name: 'a' }, { name: 'b' });
    const proxy = plane.delta();
    proxy.send({ typeUrl: cluster });
    const first = await proxy.response(0);
    expect(names(first)).toEqual(['a', 'b']);
    expect(Cluster.decode(first.resources[0]?.resource?.value ?? Buffer.alloc(0)).name).toBe('a');
    expect(first.resources[0]?.version).toBe(a?.version);
    proxy.ack(first);
    plane.source.put(Cluster, { name: 'c' });
    const second = await proxy.response(1);
    expect([names(second), second.removedResources]).toEqual([['c'], []]);
    proxy.ack(second);
    if (a) plane.source.remove(a);
    expect((await proxy.response(2)).removedResources).toEqual(['a']);
  });

  it('is answered with nothing where a wildcard lists nothing, so that the proxy starts', async () => {
    const proxy = plane.delta();
    proxy.send({ typeUrl: cluster });
    expect((await proxy.response(0)).resources).toEqual([]);
  });

  it('gets no endpoints without a name', async () => {
    plane.source.put(ClusterLoadAssignment, { clusterName: 'a' });
    const proxy = plane.delta();
    proxy.send({ typeUrl: endpoints });
    proxy.send({ typeUrl: cluster });
    expect((await proxy.response(0)).typeUrl).toBe(cluster);
    expect(plane.server.proxies()[0]?.types[0]).toMatchObject({ type: endpoints, held: 0, isWildcard: false });
  });

  it('follows what is listed for its proxy alone', async () => {
    plane.source.put(Cluster, { name: 'a' }, { name: 'b' });
    plane.source.list('web-1', cluster, ['a']);
    const proxy = plane.delta();
    proxy.send({ typeUrl: cluster });
    const first = await proxy.response(0);
    expect(names(first)).toEqual(['a']);
    proxy.ack(first);
    plane.source.list('web-1', cluster, ['b']);
    const second = await proxy.response(1);
    expect(names(second)).toEqual(['b']);
    proxy.ack(second);
    expect((await proxy.response(2)).removedResources).toEqual(['a']);
  });

  it('gets names that it asks for beside the wildcard, and none that it no longer asks for', async () => {
    plane.source.put(Cluster, { name: 'listed' }, { name: 'vip:1' }, { name: 'vip:2' });
    plane.source.list('web-1', cluster, ['listed']);
    const proxy = plane.delta();
    proxy.send({ typeUrl: cluster, resourceNamesSubscribe: ['*', 'vip:1'] });
    const first = await proxy.response(0);
    expect(names(first)).toEqual(['listed', 'vip:1']);
    proxy.ack(first, { resourceNamesSubscribe: ['vip:2'], resourceNamesUnsubscribe: ['vip:1'] });
    const second = await proxy.response(1);
    expect(names(second)).toEqual(['vip:2']);
    proxy.ack(second);
    plane.source.put(Cluster, { name: 'vip:1', altStatName: 'new' });
    plane.source.put(Cluster, { name: 'vip:2', altStatName: 'new' });
    expect(names(await proxy.response(2))).toEqual(['vip:2']);
    expect(plane.source.asked).toEqual([`web-1 ${cluster} vip:1`, `web-1 ${cluster} vip:2`]);
  });

  it('learns at once that there is no such name, and gets it when it comes', async () => {
    const proxy = plane.delta();
    proxy.send({ typeUrl: cluster, resourceNamesSubscribe: ['vip:1'] });
    const none = await proxy.response(0);
    expect([none.resources, none.removedResources]).toEqual([[], ['vip:1']]);
    proxy.ack(none);
    plane.source.put(Cluster, { name: 'vip:1' });
    expect(names(await proxy.response(1))).toEqual(['vip:1']);
  });

  it('waits for what the source has announced', async () => {
    plane.source.announce(cluster, 'vip:1');
    const proxy = plane.delta();
    proxy.send({ typeUrl: cluster, resourceNamesSubscribe: ['vip:1'] });
    proxy.send({ typeUrl: routes, resourceNamesSubscribe: ['none'] });
    expect((await proxy.response(0)).typeUrl).toBe(routes);
    plane.source.put(Cluster, { name: 'vip:1' });
    expect(names(await proxy.response(1))).toEqual(['vip:1']);
  });

  it('has one response of a type under way; changes merge meanwhile', async () => {
    plane.source.put(ClusterLoadAssignment, { clusterName: 'a' });
    const proxy = plane.delta();
    proxy.send({ typeUrl: endpoints, resourceNamesSubscribe: ['a', 'b'] });
    const first = await proxy.response(0);
    for (let i = 0; i < 50; i++)
      plane.source.put(ClusterLoadAssignment, {
        clusterName: i % 2 ? 'a' : 'b',
        policy: { overprovisioningFactor: 100 + i },
      });
    proxy.send({ typeUrl: secret, resourceNamesSubscribe: ['none'] });
    expect((await proxy.response(1)).typeUrl).toBe(secret);
    proxy.ack(first);
    const merged = await proxy.response(2);
    expect(names(merged)).toEqual(['a', 'b']);
    const a = merged.resources.find(({ name }) => name === 'a')?.resource?.value ?? Buffer.alloc(0);
    expect(ClusterLoadAssignment.decode(a).policy?.overprovisioningFactor).toBe(149);
    expect(plane.server.counters.responses).toBe(3);
  });

  it('gets much in chunks, each after the one before was acked', async () => {
    const text = 'x'.repeat(10_000);
    plane.source.put(Cluster, ...Array.from({ length: 200 }, (_, i) => ({ name: `c-${i}`, altStatName: text })));
    const proxy = plane.delta();
    proxy.send({ typeUrl: cluster });
    const got: string[] = [];
    for (let i = 0; got.length < 200; i++) {
      const response = await proxy.response(i);
      got.push(...names(response));
      expect(proxy.sizes[i]).toBeLessThan(CHUNK_BYTES + 20_000);
      proxy.ack(response);
    }
    expect(proxy.responses).toHaveLength(4);
    expect(new Set(got).size).toBe(200);
  });

  it('gets clusters and endpoints first: listeners and routes wait until both are acked', async () => {
    plane.source.put(Cluster, eds('a'));
    plane.source.put(ClusterLoadAssignment, { clusterName: 'a' });
    plane.source.put(Listener, listening('l'));
    plane.source.put(RouteConfiguration, { name: 'r' });
    const proxy = plane.delta();
    for (const [typeUrl, name] of [
      [routes, 'r'],
      [listener, 'l'],
      [endpoints, 'a'],
      [cluster, 'a'],
    ] as const)
      proxy.send({ typeUrl, resourceNamesSubscribe: [name] });
    // Requests before clusters exist are answered at once; from here on all four change in one moment.
    const before = await settled(proxy);
    plane.source.put(RouteConfiguration, { name: 'r', ignorePortInHostMatching: true });
    plane.source.put(Listener, { ...listening('l'), transparent: true });
    plane.source.put(Cluster, eds('a', 'new'));
    const clusters = await proxy.response(before);
    const again = await proxy.response(before + 1);
    expect([clusters.typeUrl, again.typeUrl]).toEqual([cluster, endpoints]);
    proxy.ack(again);
    proxy.send({ typeUrl: 'type.googleapis.com/envoy.service.runtime.v3.Runtime' });
    expect((await proxy.response(before + 2)).typeUrl).toContain('Runtime');
    proxy.ack(clusters);
    expect((await proxy.response(before + 3)).typeUrl).toBe(listener);
    expect((await proxy.response(before + 4)).typeUrl).toBe(routes);
  });

  it('gets a changed listener though its clusters are never at rest, and each after the clusters that it names', async () => {
    plane.source.put(Cluster, { name: 'c-0' });
    plane.source.put(Listener, { ...listening('l'), statPrefix: 'c-0' }, listening('other'));
    const proxy = plane.delta();
    proxy.send({ typeUrl: cluster });
    proxy.ack(await proxy.response(0));
    proxy.send({ typeUrl: listener });
    proxy.ack(await proxy.response(1));
    proxy.send({ typeUrl: routes, resourceNamesSubscribe: ['none'] });
    proxy.ack(await proxy.response(2));
    const acked = new Set(['c-0']);
    let rounds = 0;
    // Once, as an operator does.
    plane.source.put(Listener, { ...listening('other'), statPrefix: 'c-0' });
    const next = (): void => {
      rounds += 1;
      plane.source.put(Cluster, { name: `c-${rounds}` });
      // As each new service does.
      plane.source.put(Listener, { ...listening('l'), statPrefix: `c-${rounds}` });
    };
    next();
    const sentAfter: number[] = [];
    for (let seen = 3; rounds < 12; seen++) {
      const response = await proxy.response(seen);
      if (response.typeUrl === listener) {
        sentAfter.push(rounds);
        for (const { resource } of response.resources)
          expect(acked).toContain(Listener.decode(resource?.value ?? Buffer.alloc(0)).statPrefix);
      } else {
        // An ack is always outstanding: more has changed before each.
        next();
        for (const name of names(response)) acked.add(name);
      }
      proxy.ack(response);
    }
    expect(sentAfter[0]).toBeLessThanOrEqual(4);
    expect(sentAfter.length).toBeGreaterThanOrEqual(4);
  });

  it('loses what goes in the reverse order', async () => {
    const gone = [
      ...plane.source.put(Cluster, eds('a')),
      ...plane.source.put(ClusterLoadAssignment, { clusterName: 'a' }),
      ...plane.source.put(Listener, listening('l')),
      ...plane.source.put(RouteConfiguration, { name: 'r' }),
    ];
    const proxy = plane.delta();
    for (const [typeUrl, name] of [
      [cluster, 'a'],
      [endpoints, 'a'],
      [listener, 'l'],
      [routes, 'r'],
    ] as const)
      proxy.send({ typeUrl, resourceNamesSubscribe: [name] });
    let seen = await settled(proxy);
    plane.source.remove(...gone);
    const order: string[] = [];
    while (order.length < 4) {
      const response = await proxy.response(seen++);
      expect(response.resources).toEqual([]);
      order.push(response.typeUrl);
      proxy.ack(response);
    }
    expect(order).toEqual([routes, listener, endpoints, cluster]);
  });

  it('is sent listeners that go with those that come, which wait for their clusters', async () => {
    plane.source.put(Cluster, { name: 'old' });
    const [gone] = plane.source.put(Listener, { name: 'old' });
    const proxy = plane.delta();
    const answered = async (type: string, number: number): Promise<void> => {
      proxy.send({ typeUrl: `type.googleapis.com/${type}` });
      expect((await proxy.response(number)).typeUrl).toContain(type);
    };
    proxy.send({ typeUrl: cluster });
    proxy.ack(await proxy.response(0));
    proxy.send({ typeUrl: listener });
    proxy.ack(await proxy.response(1));
    proxy.send({ typeUrl: routes, resourceNamesSubscribe: ['r'] });
    const unacked = await proxy.response(2);
    if (gone) plane.source.remove(gone);
    // Until the routes are acked the listener stays.
    await answered('Runtime', 3);
    plane.source.put(Cluster, { name: 'new' });
    const clusters = await proxy.response(4);
    plane.source.put(Listener, { name: 'new' });
    proxy.ack(unacked);
    await answered('ScopedRoutes', 5);
    proxy.ack(clusters);
    const listeners = await proxy.response(6);
    expect([listeners.typeUrl, names(listeners), listeners.removedResources]).toEqual([listener, ['new'], []]);
    proxy.ack(listeners);
    expect((await proxy.response(7)).removedResources).toEqual(['old']);
  });

  it('is sent the endpoints of a changed cluster again, at once and though they are unchanged', async () => {
    plane.source.put(Cluster, { ...eds('a'), edsClusterConfig: { serviceName: 'shared' } });
    plane.source.put(ClusterLoadAssignment, { clusterName: 'shared' });
    const proxy = plane.delta();
    proxy.send({ typeUrl: cluster });
    const first = await proxy.response(0);
    proxy.send({ typeUrl: endpoints, resourceNamesSubscribe: ['shared'] });
    proxy.ack(await proxy.response(1));
    proxy.ack(first);
    plane.source.put(Cluster, { ...eds('b'), edsClusterConfig: { serviceName: 'shared' } });
    expect(names(await proxy.response(2))).toEqual(['b']);
    const again = await proxy.response(3); // the clusters are not acked
    expect([again.typeUrl, names(again)]).toEqual([endpoints, ['shared']]);
  });

  it('shares one encoding among all proxies of a view, and only within it', async () => {
    const [shared] = plane.source.put(Cluster, { name: 'a' });
    plane.auth.views.set('web-3', 'other');
    if (shared) plane.source.putIn('other', { ...shared, version: 'other' });
    const proxies = ['web-1', 'web-2', 'web-3'].map((node) => plane.delta(node));
    for (const proxy of proxies) proxy.send({ typeUrl: cluster, resourceNamesSubscribe: ['a'] });
    const versions = await Promise.all(proxies.map(async (proxy) => (await proxy.response(0)).resources[0]?.version));
    expect(versions).toEqual([shared?.version, shared?.version, 'other']);
  });
});
