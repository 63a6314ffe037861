import { Cluster, Cluster_LbPolicy, ClusterLoadAssignment } from '@causeway/proto-gen';
import { FakeClock } from '@causeway/runtime/testing';
import { until } from '../../../../test/support/until';
import { XdsPlane } from '../../../../test/support/xds-plane';
import { RESOURCE_TYPES } from '@causeway/xds-server';

const { cluster, endpoints, listener } = RESOURCE_TYPES;

const GRPC = { INVALID_ARGUMENT: 3, DEADLINE: 4, DENIED: 7, EXHAUSTED: 8, UNAVAILABLE: 14, UNAUTHENTICATED: 16 };

describe('what proxies answer', () => {
  let plane: XdsPlane;
  const begin = async (...settings: ConstructorParameters<typeof XdsPlane>): Promise<XdsPlane> => {
    plane = new XdsPlane(...settings);
    await plane.start();
    return plane;
  };
  afterEach(() => plane.stop());
  const typeOf = (type: string) => plane.server.proxies()[0]?.types.find((one) => one.type === type);

  it('a rejection is shown with its text, is not repeated, and all others apply', async () => {
    await begin();
    plane.source.put(Cluster, { name: 'good' }, { name: 'bad' });
    const proxy = plane.delta();
    proxy.send({ typeUrl: cluster });
    proxy.nack(await proxy.response(0), 'Error adding/updating cluster(s) bad: no way');
    await until('the rejection', () => typeOf(cluster)?.lastRejection);
    expect(typeOf(cluster)).toMatchObject({
      held: 2,
      lastRejection: { text: 'Error adding/updating cluster(s) bad: no way', names: ['bad'] },
      ackedRevision: plane.source.revision,
    });
    plane.source.put(Cluster, { name: 'other' });
    const second = await proxy.response(1);
    expect(second.resources.map(({ name }) => name)).toEqual(['other']);
    proxy.ack(second);
    // An ack of something else does not clear it; the resource is sent again when it changes.
    await until('the ack', () => typeOf(cluster)?.ackedRevision === plane.source.revision);
    expect(typeOf(cluster)?.lastRejection?.names).toEqual(['bad']);
    plane.source.put(Cluster, { name: 'bad', lbPolicy: Cluster_LbPolicy.RANDOM });
    const third = await proxy.response(2);
    expect(third.resources.map(({ name }) => name)).toEqual(['bad']);
    proxy.ack(third);
    await until('no rejection', () => typeOf(cluster) && !typeOf(cluster)?.lastRejection);
    expect(plane.server.counters).toMatchObject({ rejections: 1, staleNonces: 0 });
  });

  it('a resource that was rejected and goes is rejected no longer, even where what came with it is', async () => {
    await begin();
    const [bad] = plane.source.put(Cluster, { name: 'bad' });
    const proxy = plane.delta();
    proxy.send({ typeUrl: cluster });
    proxy.nack(await proxy.response(0), 'bad: no way');
    await until('the rejection', () => typeOf(cluster)?.rejected.length === 1);
    if (bad) plane.source.remove(bad);
    const second = await proxy.response(1);
    expect(second.removedResources).toEqual(['bad']);
    proxy.nack(second, 'some other reason');
    const { revision } = plane.source;
    await until('the second rejection', () => plane.server.counters.rejections === 2);
    expect(typeOf(cluster)).toMatchObject({ rejected: [], appliedRevision: revision });
  });

  it('a resource that cannot be made ends the streams that ask for it, and no other', async () => {
    await begin();
    plane.source.put(Cluster, { name: 'a' });
    const [good, bad] = [plane.delta('good'), plane.delta('bad')];
    good.send({ typeUrl: cluster, resourceNamesSubscribe: ['a'] });
    bad.send({ typeUrl: cluster, resourceNamesSubscribe: ['a', 'broken'] });
    for (const proxy of [good, bad]) proxy.ack(await proxy.response(0));
    plane.source.broken.add('broken');
    plane.source.put(Cluster, { name: 'broken' });
    expect(await bad.end()).toMatchObject({ code: GRPC.UNAVAILABLE, details: 'internal error' });
    plane.source.put(Cluster, { name: 'a', altStatName: 'new' });
    expect((await good.response(1)).resources.map(({ name }) => name)).toEqual(['a']);
  });

  it('a stale or wrong nonce acks nothing; the names in it count', async () => {
    await begin();
    plane.source.put(Cluster, { name: 'a' }, { name: 'b' });
    const proxy = plane.delta();
    proxy.send({ typeUrl: cluster, resourceNamesSubscribe: ['a'] });
    const first = await proxy.response(0);
    proxy.send({ typeUrl: cluster, responseNonce: 'never-sent', resourceNamesSubscribe: ['b'] });
    await until('the nonce', () => plane.server.counters.staleNonces === 1);
    expect(proxy.responses).toHaveLength(1); // the first is still not acked
    proxy.ack(first);
    const second = await proxy.response(1);
    expect(second.resources.map(({ name }) => name)).toEqual(['b']);
    proxy.ack(first);
    await until('the stale nonce', () => plane.server.counters.staleNonces === 2);
    expect(typeOf(cluster)?.ackedRevision).toBeLessThan(plane.source.revision + 1);
  });

  it('reconnecting with what it holds gets only what is new', async () => {
    await begin();
    const many = Array.from({ length: 500 }, (_, i) => ({ clusterName: `e-${i}` }));
    const held = plane.source.put(ClusterLoadAssignment, ...many);
    const gone = plane.source.put(ClusterLoadAssignment, { clusterName: 'gone' });
    plane.source.remove(...gone);
    const names = [...held, ...gone].map(({ name }) => name);
    const initialResourceVersions = Object.fromEntries([...held, ...gone].map(({ name, version }) => [name, version]));
    initialResourceVersions['e-7'] = 'older';
    const proxy = plane.delta();
    proxy.send({ typeUrl: endpoints, resourceNamesSubscribe: names, initialResourceVersions });
    const first = await proxy.response(0);
    expect(first.resources.map(({ name }) => name)).toEqual(['e-7']);
    proxy.ack(first);
    expect((await proxy.response(1)).removedResources).toEqual(['gone']);
    expect(plane.server.counters).toMatchObject({ unchanged: 499, resources: 1 });
  });

  it('reconnecting with a wildcard too, and nothing is sent where nothing is new', async () => {
    await begin();
    const held = plane.source.put(Cluster, { name: 'a' }, { name: 'vip:1' });
    plane.source.list('web-1', cluster, ['a']);
    const initialResourceVersions = Object.fromEntries(held.map(({ name, version }) => [name, version]));
    const proxy = plane.delta();
    proxy.send({ typeUrl: cluster, resourceNamesSubscribe: ['*', 'vip:1'], initialResourceVersions });
    await until('the comparison', () => plane.server.counters.unchanged === 2);
    expect(plane.server.counters.responses).toBe(0);
    plane.source.put(Cluster, { name: 'vip:1', altStatName: 'new' });
    expect((await proxy.response(0)).resources.map(({ name }) => name)).toEqual(['vip:1']);
  });

  it('garbage ends its stream and no other', async () => {
    await begin();
    plane.source.put(Cluster, { name: 'a' });
    const good = plane.delta('good');
    good.send({ typeUrl: cluster });
    good.ack(await good.response(0));
    const garbage = plane.delta('garbage');
    garbage.sendBytes(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff]));
    expect(await garbage.end()).toMatchObject({
      code: GRPC.INVALID_ARGUMENT,
      details: expect.stringContaining('no discovery request'),
    });
    const untyped = plane.delta('untyped');
    untyped.send({});
    expect(await untyped.end()).toMatchObject({ code: GRPC.INVALID_ARGUMENT, details: 'type_url: must be set' });
    const nameless = plane.delta('');
    nameless.send({ typeUrl: cluster });
    expect(await nameless.end()).toMatchObject({ details: 'node.id: must be set in the first request' });
    plane.source.put(Cluster, { name: 'b' });
    expect((await good.response(1)).resources.map(({ name }) => name)).toEqual(['b']);
    expect(plane.server.proxies().map(({ id }) => id)).toEqual(['good']);
  });

  it('100,000 names, names that are too long and too many types end the stream', async () => {
    await begin({ names: 1_000 });
    const greedy = plane.delta();
    greedy.send({ typeUrl: cluster, resourceNamesSubscribe: Array.from({ length: 100_000 }, (_, i) => `vip:${i}`) });
    expect(await greedy.end()).toMatchObject({
      code: GRPC.EXHAUSTED,
      details: '100000 names are more than 1000 on one stream',
    });
    const long = plane.delta();
    long.send({ typeUrl: cluster, resourceNamesSubscribe: ['x'.repeat(3_000)] });
    expect(await long.end()).toMatchObject({ code: GRPC.EXHAUSTED });
    const type = plane.delta();
    type.send({ typeUrl: 'x'.repeat(300) });
    expect(await type.end()).toMatchObject({ details: 'type_url: of 300 characters is longer than 256' });
    const types = plane.delta();
    for (let i = 0; i < 40; i++) types.send({ typeUrl: `type-${i}`, resourceNamesSubscribe: ['a'] });
    expect(await types.end()).toMatchObject({ details: 'more than 32 types on one stream' });
    expect(plane.server.proxies()).toEqual([]);
  });

  it('who is not admitted is read no further than its node, which has a bound, as the fields of a request have', async () => {
    await begin();
    const many = Array.from({ length: 60_000 }, (_, i) => `vip:${i}`);
    const nobody = plane.delta('nobody');
    nobody.send({ typeUrl: cluster, resourceNamesSubscribe: many });
    expect(await nobody.end()).toMatchObject({ code: GRPC.DENIED });
    const known = plane.delta('known');
    known.send({ typeUrl: cluster, resourceNamesSubscribe: many });
    expect(await known.end()).toMatchObject({ code: GRPC.EXHAUSTED, details: expect.stringContaining('60000 names') });
    const large = plane.delta();
    large.send({ typeUrl: cluster, node: { id: 'web-1', metadata: { big: 'x'.repeat(600_000) } } });
    const bound = /^node: must have at most 524288 bytes, has 6\d+$/;
    expect(await large.end()).toMatchObject({ code: GRPC.EXHAUSTED, details: expect.stringMatching(bound) });
    const fields = plane.delta();
    fields.sendBytes(Buffer.alloc(400_000, Buffer.from([0x1a, 0])));
    expect(await fields.end()).toMatchObject({ details: 'a request has more than 160000 fields' });
  });

  it('names are counted once, over all types', async () => {
    await begin({ names: 10 });
    const proxy = plane.delta();
    const some = (from: number, count: number): string[] => Array.from({ length: count }, (_, i) => `e-${from + i}`);
    proxy.send({ typeUrl: cluster, resourceNamesSubscribe: some(0, 6) });
    proxy.send({ typeUrl: cluster, resourceNamesSubscribe: some(0, 6) });
    proxy.send({ typeUrl: endpoints, resourceNamesSubscribe: some(0, 4) });
    await until('both types', () => plane.server.proxies()[0]?.types.length === 2);
    proxy.send({ typeUrl: cluster, resourceNamesSubscribe: ['one-more'] });
    expect(await proxy.end()).toMatchObject({ details: '11 names are more than 10 on one stream' });
  });

  it('streams that ask for all names that there are for all leave each other stream its own', async () => {
    await begin({ sharedNames: 1_000, ownNames: 100 });
    const some = (count: number): string[] => Array.from({ length: count }, (_, i) => `e-${i}`);
    const greedy = plane.delta('greedy-1');
    greedy.send({ typeUrl: endpoints, resourceNamesSubscribe: some(1_100) });
    await greedy.response(0);
    const modest = plane.delta('modest');
    modest.send({ typeUrl: endpoints, resourceNamesSubscribe: some(100) });
    expect((await modest.response(0)).removedResources).toHaveLength(100);
    const second = plane.delta('greedy-2');
    second.send({ typeUrl: cluster, resourceNamesSubscribe: some(100) });
    second.send({ typeUrl: endpoints, resourceNamesSubscribe: ['one-more'] });
    expect(await second.end()).toMatchObject({
      code: GRPC.EXHAUSTED,
      details: '101 names: the streams of all proxies together ask for the maximum already',
    });
    expect(plane.server.load().names).toBe(1_200);
    // Names that are dropped, and those of streams that end, are there for others.
    greedy.send({ typeUrl: endpoints, resourceNamesUnsubscribe: some(1_000) });
    await until('the names are dropped', () => plane.server.load().names === 200);
    await greedy.close();
    await until('its own too', () => plane.server.load().names === 100);
    const next = plane.sotw('next');
    next.send({ typeUrl: endpoints, resourceNames: some(1_100) });
    await until('the names of the next', () => plane.server.load().names === 1_200);
    next.send({ typeUrl: endpoints, resourceNames: some(7) });
    await until('fewer names', () => plane.server.load().names === 107);
  });

  it('a proxy keeps its newest streams', async () => {
    await begin({ streamsOfProxy: 2 });
    const proxies = [plane.delta('web-1'), plane.delta('web-1'), plane.delta('web-1')];
    for (const proxy of proxies) {
      proxy.send({ typeUrl: cluster });
      await proxy.response(0);
    }
    expect(await proxies[0]?.end()).toMatchObject({ code: GRPC.UNAVAILABLE });
    expect(plane.server.proxies()).toHaveLength(2);
  });

  it('too many requests end the stream', async () => {
    await begin({ requests: { burst: 10, perSecond: 1 } });
    const proxy = plane.delta();
    for (let i = 0; i < 20; i++) proxy.send({ typeUrl: cluster, resourceNamesSubscribe: [`a-${i}`] });
    expect(await proxy.end()).toMatchObject({ code: GRPC.EXHAUSTED, details: 'too many requests' });
    const large = plane.delta();
    const names = Array.from({ length: 200 }, (_, i) => `${i}-${'x'.repeat(1_000)}`);
    large.send({ typeUrl: cluster, resourceNamesSubscribe: names });
    expect(await large.end()).toMatchObject({ code: GRPC.EXHAUSTED, details: 'too many requests' });
  });

  it('a proxy that never acks is ended, and costs one response a type until then', async () => {
    const clock = new FakeClock(1_000_000);
    await begin({}, clock);
    plane.source.put(Cluster, { name: 'a' });
    const [mute, good] = [plane.delta('mute'), plane.delta('good')];
    for (const proxy of [mute, good]) proxy.send({ typeUrl: cluster });
    await mute.response(0);
    good.ack(await good.response(0));
    await until('the ack', () => plane.server.proxies().find(({ id }) => id === 'good')?.types[0]?.ackedRevision === 1);
    for (let i = 0; i < 100; i++) plane.source.put(Cluster, { name: 'a', altStatName: `${i}` });
    good.ack(await good.response(1));
    const acked = plane.source.revision;
    await until(
      'acks',
      () => plane.server.proxies().find(({ id }) => id === 'good')?.types[0]?.ackedRevision === acked,
    );
    clock.advance(59_000);
    expect(mute.responses).toHaveLength(1);
    expect(mute.ended).toBeUndefined();
    clock.advance(2_000);
    expect(await mute.end()).toMatchObject({ code: GRPC.DEADLINE, details: 'a response was not acked in 60000 ms' });
    expect(plane.server.proxies().map(({ id }) => id)).toEqual(['good']);
  });

  it('a stream without a request is ended', async () => {
    const clock = new FakeClock(1_000_000);
    await begin({}, clock);
    const proxy = plane.delta();
    const opened = new Promise((resolve) => proxy.stream.once('metadata', resolve));
    await opened;
    clock.advance(11_000);
    expect(await proxy.end()).toMatchObject({ code: GRPC.DEADLINE });
  });

  it('bytes that nobody acks are bounded over all streams', async () => {
    await begin({ unackedBytes: 100_000 });
    const text = 'x'.repeat(60_000);
    plane.source.put(Cluster, { name: 'a', altStatName: text });
    const proxies = Array.from({ length: 5 }, (_, i) => plane.delta(`web-${i}`));
    for (const proxy of proxies) proxy.send({ typeUrl: cluster });
    const answered = (): number => proxies.filter(({ responses }) => responses.length > 0).length;
    await until('the first', () => answered() === 2);
    await until('all subscriptions', () => plane.server.proxies().length === 5);
    expect(answered()).toBe(2);
    for (let acked = 0; acked < 5;) {
      const next = proxies.filter(({ responses }) => responses.length > 0)[acked];
      const [response] = next?.responses ?? [];
      if (next && response) {
        next.ack(response);
        acked++;
      } else await until('one more', () => answered() > acked);
    }
    expect(answered()).toBe(5);
  });

  it('who may not connect gets an error that says so; who may no longer is ended; another view is served', async () => {
    await begin();
    const [own] = plane.source.put(Cluster, { name: 'a' });
    if (own) plane.source.putIn('other', { ...own, version: 'other' });
    const nobody = plane.delta('nobody');
    nobody.send({ typeUrl: cluster });
    expect(await nobody.end()).toMatchObject({ code: GRPC.DENIED, details: 'nobody may not connect' });
    const proxy = plane.delta('web-1', 'Bearer token');
    proxy.send({ typeUrl: cluster });
    proxy.ack(await proxy.response(0));
    expect(plane.auth.callers.at(-1)).toMatchObject({ node: 'web-1', authorization: 'Bearer token' });
    plane.auth.views.set('web-1', 'other');
    plane.auth.change();
    const second = await proxy.response(1);
    expect(second.resources[0]?.version).toBe('other');
    proxy.ack(second);
    plane.auth.refused.add('web-1');
    plane.auth.change();
    expect(await proxy.end()).toMatchObject({ code: GRPC.DENIED });
    expect(plane.server.proxies()).toEqual([]);
  });

  it('a right that ends is asked for again', async () => {
    const clock = new FakeClock(1_000_000);
    await begin({}, clock);
    plane.auth.until = 1_030_000;
    const proxy = plane.delta();
    proxy.send({ typeUrl: cluster });
    proxy.ack(await proxy.response(0));
    clock.advance(20_000);
    expect(plane.auth.callers).toHaveLength(1);
    clock.advance(15_000);
    expect(await proxy.end()).toMatchObject({ code: GRPC.UNAUTHENTICATED });
  });

  it('a stop of the server sends proxies to another one', async () => {
    await begin();
    const proxy = plane.delta();
    proxy.send({ typeUrl: listener });
    await proxy.response(0);
    await plane.server.close();
    expect(await proxy.end()).toMatchObject({ code: GRPC.UNAVAILABLE });
  });
});
