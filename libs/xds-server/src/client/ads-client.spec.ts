import { Cluster, Cluster_DiscoveryType, ClusterLoadAssignment } from '@causeway/proto-gen';
import { silentLogger, systemClock } from '@causeway/runtime';
import fc from 'fast-check';
import { createServer, type Server } from 'node:net';
import { until } from '../../../../test/support/until';
import { XdsPlane } from '../../../../test/support/xds-plane';
import { RESOURCE_TYPES, type EncodedResource } from '../resources/encoded-resource';
import { AdsClient, type AdsClientOptions } from './ads-client';
import type { ResourceUpdate } from './ads-client-stream';
import { Subscriptions } from './subscriptions';

const { cluster, endpoints } = RESOURCE_TYPES;

/** A client of a test: records what it holds and what it was sent. */
class Receiver {
  readonly held = new Map<string, Map<string, EncodedResource>>();
  readonly updates: ResourceUpdate[] = [];
  refusal: string | undefined;

  async receive(update: ResourceUpdate): Promise<string | undefined> {
    this.updates.push(update);
    if (this.refusal !== undefined) return Promise.resolve(this.refusal);
    const held = this.held.get(update.type) ?? new Map<string, EncodedResource>();
    this.held.set(update.type, held);
    for (const resource of update.resources) held.set(resource.name, resource);
    for (const name of update.removed) held.delete(name);
    return Promise.resolve(undefined);
  }

  names(type: string): readonly string[] {
    return [...(this.held.get(type)?.keys() ?? [])].sort();
  }
}

describe('a client of delta discovery', () => {
  let plane: XdsPlane;
  let receiver: Receiver;
  const clients: AdsClient[] = [];
  beforeEach(async () => {
    plane = new XdsPlane();
    receiver = new Receiver();
    await plane.start();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await plane.stop();
  });

  function connect(options: Partial<AdsClientOptions> = {}): AdsClient {
    const client = new AdsClient({
      addresses: () => [`127.0.0.1:${plane.port}`],
      tls: () => undefined,
      node: () => ({
        id: 'web-1',
        cluster: 'web',
        metadata: { a: { b: [1, 'c'] } },
        userAgent: 'causeway-agent 0.1.0',
      }),
      authorization: () => undefined,
      held: (type) =>
        [...(receiver.held.get(type)?.values() ?? [])].map(({ name, version }) => [name, version] as const),
      receive: (update) => receiver.receive(update),
      clock: systemClock,
      logger: silentLogger,
      limits: { deadline: { base: 500, cap: 500 }, pause: { base: 10, cap: 50 } },
      ...options,
    });
    clients.push(client);
    return client;
  }

  const acked = (type: string) => () =>
    plane.server.proxies()[0]?.types.find((one) => one.type === type)?.ackedRevision === plane.source.revision;

  it('introduces itself, holds what is listed and what it asks for, and acks it', async () => {
    const [sent] = plane.source.put(Cluster, {
      name: 'a',
      clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.EDS },
      edsClusterConfig: { serviceName: 'shared' },
    });
    plane.source.put(ClusterLoadAssignment, { clusterName: 'shared' }, { clusterName: 'other' });
    const client = connect({ authorization: () => 'Bearer t' });
    client.subscribe(cluster, ['*']);
    client.subscribe(endpoints, ['shared']);
    await until('all acks', () => acked(cluster)() && acked(endpoints)());
    expect(plane.auth.callers[0]).toMatchObject({
      node: 'web-1',
      cluster: 'web',
      metadata: { a: { b: [1, 'c'] } },
      authorization: 'Bearer t',
      userAgent: 'causeway-agent 0.1.0',
    });
    expect(receiver.held.get(cluster)?.get('a')).toEqual(sent);
    expect(receiver.names(endpoints)).toEqual(['shared']);
    client.unsubscribe(endpoints, ['shared']);
    client.subscribe(endpoints, ['other', 'nothing']);
    await until('the other', () => receiver.names(endpoints).includes('other'));
    await until('what is not there', () => receiver.updates.some(({ removed }) => removed.includes('nothing')));
    expect(client.state).toMatchObject({ type: 'connected' });
  });

  it('rejects with the text of the one who takes it, and takes the next version', async () => {
    plane.source.put(Cluster, { name: 'a' });
    receiver.refusal = 'the plane cannot apply it';
    const client = connect();
    client.subscribe(cluster, ['*']);
    const rejection = await until('the rejection', () => plane.server.proxies()[0]?.types[0]?.lastRejection);
    expect(rejection).toMatchObject({ text: 'the plane cannot apply it' });
    receiver.refusal = undefined;
    plane.source.put(Cluster, { name: 'a', altStatName: 'again' });
    await until('the next version', () => receiver.names(cluster).length === 1);
  });

  it('acks only when an update has been taken, and takes those of a type one after the other', async () => {
    let finish: () => void = () => undefined;
    const taken = new Promise<void>((resolve) => (finish = resolve));
    let taking = 0;
    let most = 0;
    connect({
      receive: async (update) => {
        most = Math.max(most, ++taking);
        await taken;
        taking--;
        return receiver.receive(update);
      },
    }).subscribe(cluster, ['*']);
    plane.source.put(Cluster, { name: 'a' });
    await until('the first update', () => taking === 1);
    plane.source.put(Cluster, { name: 'b' });
    expect(plane.server.proxies()[0]?.types[0]?.ackedRevision).not.toBe(plane.source.revision);
    finish();
    await until('all acks', acked(cluster));
    expect([most, receiver.names(cluster)]).toEqual([1, ['a', 'b']]);
  });

  it('is sent nothing twice when its server comes back, but what has changed meanwhile', async () => {
    plane.source.put(Cluster, { name: 'a' }, { name: 'b' }, { name: 'c' });
    const client = connect();
    client.subscribe(cluster, ['*']);
    await until('the first state', () => receiver.names(cluster).length === 3);
    const { port, source } = plane;
    await plane.stop();
    await until('the loss', () => client.state.type === 'connecting');
    receiver.updates.length = 0;
    const [b, c] = [...'bc'].map((name) => source.encoded(Cluster, { name }));
    if (b && c) source.remove(b);
    source.put(Cluster, { name: 'c', altStatName: 'changed' });
    plane = new XdsPlane({}, systemClock, source);
    await plane.start(port);
    await until('what has changed', () => acked(cluster)());
    expect(receiver.names(cluster)).toEqual(['a', 'c']);
    expect(receiver.updates.flatMap(({ resources }) => resources.map(({ name }) => name))).toEqual(['c']);
  });

  it('goes on to the next address when one is dead or does not answer', async () => {
    const silent: Server = createServer((socket) => socket.resume());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const silentPort = typeof address === 'object' ? address?.port : undefined;
    plane.source.put(Cluster, { name: 'a' });
    const client = connect({
      addresses: () => ['127.0.0.1:1', `127.0.0.1:${silentPort}`, `127.0.0.1:${plane.port}`],
    });
    const states: string[] = [];
    client.onState((state) => states.push(state.type === 'connecting' ? (state.failure ?? '') : state.type));
    client.subscribe(cluster, ['*']);
    await until('the third address', () => receiver.names(cluster).length === 1);
    expect(states).toEqual([expect.stringMatching(/^UNAVAILABLE/), expect.stringContaining('in time'), 'connected']);
    silent.close();
  });

  it('takes its addresses anew at each connection, and keeps those it has where there are none', async () => {
    plane.source.put(Cluster, { name: 'a' });
    let addresses = ['127.0.0.1:1', '127.0.0.1:2'];
    const client = connect({ addresses: () => addresses });
    client.subscribe(cluster, ['*']);
    const failed: string[] = [];
    client.onState((state) => void (state.type === 'connecting' && failed.push(state.address)));
    await until('both were tried', () => new Set(failed).size === 2);
    addresses = [];
    failed.length = 0;
    await until('they are tried on', () => new Set(failed).size === 2);
    addresses = [`127.0.0.1:${plane.port}`];
    await until('the new one', () => receiver.names(cluster).length === 1);
    expect(client.state).toMatchObject({ type: 'connected', address: addresses[0] });
  });

  it('says why it is refused, and comes in when it is admitted', async () => {
    plane.source.put(Cluster, { name: 'a' });
    plane.auth.refused.add('web-1');
    const client = connect();
    client.subscribe(cluster, ['*']);
    await until(
      'the refusal',
      () => client.state.type === 'connecting' && client.state.failure?.includes('may not connect'),
    );
    plane.auth.refused.clear();
    await until('the first state', () => receiver.names(cluster).length === 1);
  });

  it('receives nothing after its end', async () => {
    const client = connect();
    client.subscribe(cluster, ['*']);
    await until('the stream', () => plane.server.load().streams === 1);
    client.close();
    plane.source.put(Cluster, { name: 'a' });
    await until('the end of the stream', () => plane.server.load().streams === 0);
    expect(receiver.names(cluster)).toEqual([]);
  });
});

describe('subscriptions', () => {
  const names = fc.array(fc.constantFrom('a', 'b', 'c', '*'), { maxLength: 3 });
  const step = fc.oneof(
    fc.record({ do: fc.constant('add' as const), names }),
    fc.record({ do: fc.constant('delete' as const), names }),
    fc.record({ do: fc.constantFrom('take' as const, 'restart' as const), names }),
  );

  it('bring a stream to what is wanted, whatever was said before, and never say a thing twice', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const subscriptions = new Subscriptions();
        const wanted = new Set<string>();
        let subscribed = new Set<string>();
        let isFirst = true;
        const take = (): void => {
          for (const change of subscriptions.take()) {
            expect(change.isFirst).toBe(isFirst);
            isFirst = false;
            for (const name of change.subscribe) {
              expect(subscribed.has(name)).toBe(false);
              subscribed.add(name);
            }
            for (const name of change.unsubscribe) expect(subscribed.delete(name)).toBe(true);
          }
        };
        for (const { do: what, names } of steps) {
          if (what === 'add') {
            const isNew = names.some((name) => !wanted.has(name));
            expect(subscriptions.add('t', names)).toBe(isNew);
            for (const name of names) wanted.add(name);
          } else if (what === 'delete') {
            const isGone = names.some((name) => wanted.has(name));
            expect(subscriptions.delete('t', names)).toBe(isGone);
            for (const name of names) wanted.delete(name);
          } else if (what === 'take') take();
          else {
            subscriptions.restart();
            [subscribed, isFirst] = [new Set(), true];
          }
        }
        take();
        expect([...subscribed].sort()).toEqual([...wanted].sort());
      }),
    );
  });
});
