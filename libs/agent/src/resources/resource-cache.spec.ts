import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, Cluster_DiscoveryType } from '@causeway/proto-gen';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { encodeResource, RESOURCE_TYPES, type EncodedResource } from '@causeway/xds-server';
import fc from 'fast-check';
import { until } from '../../../../test/support/until';
import { ResourceCache, type CacheLimits, type ResourceClient } from './resource-cache';
import type { CacheChange } from './resource-reader';

const { cluster, endpoints, secret } = RESOURCE_TYPES;

function clusterOf(name: string, altStatName = '', serviceName = ''): EncodedResource {
  const eds = { clusterDiscoveryType: { $case: 'type' as const, value: Cluster_DiscoveryType.EDS } };
  const result = encodeResource(Cluster, {
    name,
    altStatName,
    ...(serviceName !== '' && { ...eds, edsClusterConfig: { serviceName } }),
  });
  if (!result.ok) throw new Error(JSON.stringify(result.violations));
  return result.resource;
}
const other = (type: string, name: string, content: string): EncodedResource => ({
  type,
  name,
  version: `v-${content}`,
  bytes: Buffer.from(content),
});

/** A client that records the requests of a cache. */
class Asked implements ResourceClient {
  readonly names = new Set<string>();

  subscribe(type: string, names: readonly string[]): void {
    for (const name of names) this.names.add(`${type.split('.').at(-1)} ${name}`);
  }

  unsubscribe(type: string, names: readonly string[]): void {
    for (const name of names) this.names.delete(`${type.split('.').at(-1)} ${name}`);
  }
}

describe('the cache of the resources of a zone', () => {
  let folder = '';
  let clock: FakeClock;
  const open: ResourceCache[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'causeway-cache-'));
    clock = new FakeClock();
  });
  afterEach(async () => {
    for (const cache of open.splice(0)) await cache.close();
    await rm(folder, { recursive: true });
  });

  async function opened(limits: Partial<CacheLimits> = {}, name = 'resources'): Promise<ResourceCache> {
    const cache = await ResourceCache.open(join(folder, name), { clock, logger: silentLogger, limits });
    open.push(cache);
    return cache;
  }
  async function reopened(cache: ResourceCache): Promise<ResourceCache> {
    open.splice(open.indexOf(cache), 1);
    await cache.close();
    return opened();
  }
  const tell = (cache: ResourceCache, resources: readonly EncodedResource[], removed: readonly string[] = []) =>
    cache.receive({ type: resources[0]?.type ?? cluster, resources, removed });

  it('has after a start what it had, and asks for the same', async () => {
    let cache = await opened();
    cache.want(secret, ['identity']);
    const [a, b] = [clusterOf('a', '', 'shared'), clusterOf('b')];
    await tell(cache, [a, b]);
    await tell(cache, [other(endpoints, 'shared', 'e')]);
    await tell(cache, [clusterOf('b', 'again')], ['gone']);
    await cache.receive({ type: cluster, resources: [], removed: ['a'] });
    cache = await reopened(cache);
    expect([...cache.names(cluster)]).toEqual(['b']);
    expect(cache.get(cluster, 'b')).toEqual(clusterOf('b', 'again'));
    expect(cache.get(endpoints, 'shared')).toEqual(other(endpoints, 'shared', 'e'));
    expect([...cache.versions(cluster)]).toEqual([['b', clusterOf('b', 'again').version]]);
    const asked = new Asked();
    cache.useClient(asked);
    expect([...asked.names].sort()).toEqual(
      ['Cluster *', 'ClusterLoadAssignment shared', 'Listener *', 'Secret identity'].sort(),
    );
  });

  it('acks when the disk has it and the plane obeys it, and knows which version the plane obeys', async () => {
    const cache = await opened();
    const received: CacheChange[] = [];
    cache.subscribe((change) => received.push(change));
    let finish: (refusal?: string) => void = () => undefined;
    cache.useApplier(() => new Promise((resolve) => (finish = resolve)));
    const [first, second] = [clusterOf('a'), clusterOf('a', 'second')];
    let isAcked = false;
    const acked = tell(cache, [first]).finally(() => (isAcked = true));
    await until('the change', () => received.length === 1);
    expect([isAcked, cache.appliedVersion(cluster, 'a')]).toEqual([false, undefined]);
    finish();
    expect(await acked).toBeUndefined();
    expect(cache.appliedVersion(cluster, 'a')).toBe(first.version);
    const refused = tell(cache, [second]);
    await until('the second', () => received.length === 2);
    finish('no');
    expect(await refused).toBe('no');
    expect(cache.appliedVersion(cluster, 'a')).toBe(first.version);
    expect(cache.get(cluster, 'a')).toEqual(second);
  });

  it('leaves a question open while a control plane is connected, and answers it after a second without one', async () => {
    const cache = await opened();
    const received: CacheChange[] = [];
    cache.subscribe((change) => received.push(change));
    cache.connected(true);
    cache.want(cluster, ['vip:1']);
    clock.advance(60_000);
    expect(cache.get(cluster, 'vip:1')).toBe('pending');
    cache.connected(false);
    clock.advance(998);
    expect([cache.get(cluster, 'vip:1'), received]).toEqual(['pending', []]);
    clock.advance(2);
    expect(cache.get(cluster, 'vip:1')).toBeUndefined();
    expect(received).toEqual([{ type: cluster, names: ['vip:1'] }]);
    // There the answer is that there is none, or the resource.
    cache.connected(true);
    expect(cache.get(cluster, 'vip:1')).toBe('pending');
    await cache.receive({ type: cluster, resources: [], removed: ['vip:1'] });
    expect(cache.get(cluster, 'vip:1')).toBeUndefined();
    await tell(cache, [clusterOf('vip:1')]);
    expect(cache.get(cluster, 'vip:1')).toMatchObject({ name: 'vip:1' });
    expect(cache.get(cluster, 'never asked')).toBeUndefined();
  });

  it('drops what nobody needs, the oldest first, when too many names are asked for', async () => {
    const cache = await opened({ names: 3 });
    const asked = new Asked();
    cache.useClient(asked);
    cache.want(cluster, ['a', 'b', 'c']);
    await tell(cache, [clusterOf('a'), clusterOf('b'), clusterOf('c')]);
    cache.release(cluster, ['a', 'c']);
    cache.want(cluster, ['d']);
    expect([...asked.names].filter((name) => !name.endsWith('*'))).toEqual(['Cluster b', 'Cluster c', 'Cluster d']);
    expect(cache.get(cluster, 'a')).toBeUndefined();
    cache.want(cluster, ['e', 'f']);
    expect(cache.size.names).toBe(3);
    expect([...asked.names].filter((name) => !name.endsWith('*'))).toEqual(['Cluster b', 'Cluster d', 'Cluster e']);
  });

  it('refuses more bytes than it may hold, and keeps what it has', async () => {
    const cache = await opened({ bytes: 1_000 });
    await tell(cache, [clusterOf('a')]);
    expect(await tell(cache, [other(secret, 'big', 'x'.repeat(1_000))])).toMatch(/at most 1000 are kept$/);
    expect(cache.get(secret, 'big')).toBeUndefined();
    expect(cache.get(cluster, 'a')).toMatchObject({ name: 'a' });
  });

  it('does not grow on disk with changes of the same things', async () => {
    let cache = await opened();
    const content = 'x'.repeat(512 * 1024);
    for (let i = 0; i < 30; i++) await tell(cache, [other(secret, 'one', `${content}${i}`)]);
    expect((await stat(join(folder, 'resources'))).size).toBeLessThan(6 * 1024 * 1024);
    cache = await reopened(cache);
    expect(cache.get(secret, 'one')).toMatchObject({ version: `v-${content}29` });
  });

  it('is after a start what it was before, whatever was received and asked', async () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const names = fc.uniqueArray(name, { maxLength: 3 });
    const step = fc.oneof(
      fc.record({ do: fc.constant('put' as const), names, content: fc.string({ maxLength: 3 }) }),
      fc.record({ do: fc.constantFrom('remove' as const, 'want' as const, 'release' as const), names }),
      fc.record({ do: fc.constant('start' as const) }),
    );
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const file = `run-${++runs}`;
        let cache = await opened({ names: 4 }, file);
        for (const one of steps) {
          if (one.do === 'put')
            await tell(
              cache,
              one.names.map((each) => other(secret, each, one.content)),
            );
          else if (one.do === 'remove') await cache.receive({ type: secret, resources: [], removed: one.names });
          else if (one.do === 'start') {
            const [held, { names: count }] = [heldBy(cache), cache.size];
            await cache.close();
            cache = await opened({ names: 4 }, file);
            expect(heldBy(cache)).toEqual(held);
            expect(cache.size.names).toBe(count);
          } else cache[one.do](secret, one.names);
        }
        expect(cache.size.bytes).toBe(heldBy(cache).reduce((sum, [, , bytes]) => sum + bytes, 0));
        await cache.close();
      }),
      { numRuns: 30 },
    );
  });

  function heldBy(cache: ResourceCache): readonly (readonly [name: string, version: string, bytes: number])[] {
    return [...cache.names(secret)]
      .map((name) => cache.get(secret, name))
      .flatMap((found) =>
        found && found !== 'pending' ? [[found.name, found.version, found.bytes.length] as const] : [],
      )
      .sort();
  }
});
