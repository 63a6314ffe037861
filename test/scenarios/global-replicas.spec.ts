import { Extension } from '@causeway/kds/testing';
import { readVersions, recordVersions } from '../support/row-versions';
import { RowLock } from '../support/row-lock';
import type { TestGlobal, TestZone } from '../support/sync-mesh';
import { until } from '../support/until';
import { ReplicaWorld, SPEC } from './replica-world';

const LATER = Array.from({ length: 10 }, (_, n) => `later-${n}`);

describe('two replicas of the global on one database', () => {
  let world: ReplicaWorld;
  let first: TestGlobal;
  let second: TestGlobal;
  let east: TestZone;
  let west: TestZone;

  beforeEach(async () => {
    world = new ReplicaWorld();
    first = await world.global();
    second = await world.global();
    [east, west] = [await world.zone('east'), await world.zone('west')];
    await first.put('Mesh', 'default', {});
    await east.join(first);
  });
  afterEach(() => world.close());

  const redis = () => east.id('MeshService', 'redis');
  /** Returns the versions of redis at the global since recording began: as `state` at the revision of its origin. */
  const copies = async (): Promise<readonly string[]> => {
    const versions = await readVersions(world.homes.url('global'), 'MeshService');
    return versions.map(({ living, spec }) => (living ? String(Object(spec)['state']) : 'deleted'));
  };

  it('zones on different replicas see what the other makes, changes and deletes', async () => {
    await west.join(second);
    await Promise.all([east.put('MeshService', 'redis', SPEC), west.put('MeshService', 'web', SPEC)]);
    await Promise.all([west.holds(redis()), east.holds(west.id('MeshService', 'web'))]);
    await east.put('MeshService', 'redis', { ...SPEC, state: 'Unavailable' });
    await west.holds(redis(), ({ spec }) => spec['state'] === 'Unavailable');
    await east.delete('MeshService', 'redis');
    await west.lacks(redis());
    expect([first, second].map((global) => [...(global.sync?.reports().keys() ?? [])])).toEqual([['east'], ['west']]);
  });

  it('a zone that goes over to the other replica is sent what changed, and nothing else', async () => {
    const names = Array.from({ length: 20 }, (_, n) => `service-${n}`);
    await Promise.all(names.map((name) => east.put('MeshService', name, SPEC)));
    await first.until(() => first.names('MeshService').length === names.length);
    await west.join(first);
    await west.until(() => west.names('MeshService').length === names.length);
    await first.report('west', 'MeshService');
    await west.leave();
    await east.put('MeshService', 'redis', SPEC);
    await east.delete('MeshService', 'service-0');
    await second.holds(redis());
    await west.join(second);
    await west.holds(redis());
    await west.lacks(east.id('MeshService', 'service-0'));
    expect(west.names('MeshService')).toHaveLength(names.length);
    // Points are written once a second at most: changes since the last one are sent again.
    expect((await second.report('west', 'MeshService')).sent).toBeLessThan(names.length);
  });

  it('a zone whose leader died goes on on the other replica where it was, in both directions', async () => {
    await east.leave();
    await west.join(first);
    const names = Array.from({ length: 20 }, (_, n) => `service-${n}`);
    for (const zone of [east, west]) await Promise.all(names.map((name) => zone.put('MeshService', name, SPEC)));
    await first.until(() => first.names('MeshService').length === names.length);
    await east.join(first);
    await Promise.all([east, west].map((zone) => zone.until(() => zone.names('MeshService').length === 40)));
    await first.report('east', 'MeshService', 'up');
    await first.report('east', 'MeshService');

    const next = await world.zone('east');
    await east.lapse();
    await next.join(second);
    await next.put('MeshService', 'redis', SPEC);
    await west.holds(redis());
    const up = await until('what it says that it sent', () =>
      next.sync?.status().kinds.find(({ kind, direction }) => kind === 'MeshService' && direction === 'up'),
    );
    expect((await second.report('east', 'MeshService')).sent).toBe(0);
    // None if the stream broke since then: the count is of the current one.
    expect(up.sent).toBeLessThanOrEqual(1);
  });

  it("refuses the older session's write that commits only after the newer one has begun on the other replica (I7)", async () => {
    await east.put('MeshService', 'redis', { ...SPEC, state: 'first' });
    await first.holds(redis());
    await recordVersions(world.homes.url('global'));
    // A writer waits here before it reads its session.
    const lock = await RowLock.take(world.homes.url('global'), 'SELECT * FROM store_head FOR UPDATE');
    await east.put('MeshService', 'redis', { ...SPEC, state: 'late' });
    await lock.stopped(1);
    const newer = await world.zone('east');
    await east.lapse();
    // Written before it joins: the state that it finds on joining stands by itself.
    await newer.put('MeshService', 'redis', { ...SPEC, state: 'newest' });
    await newer.join(second);
    await until('the newer session is open', () => second.sync?.reports().has('east'));
    await lock.release();
    await second.holds(redis(), ({ spec }) => spec['state'] === 'newest');
    await first.left('east');
    expect(await copies()).not.toContain('late');
    expect((await copies()).at(-1)).toBe('newest');
  });

  it("lets the newer session begin only when the older one's last write has committed, and overwrites that (I7)", async () => {
    await east.put('MeshService', 'redis', { ...SPEC, state: 'first' });
    await first.holds(redis());
    await recordVersions(world.homes.url('global'));
    // The writer of redis has read its session, and waits with the right to write.
    const lock = await RowLock.take(
      world.homes.url('global'),
      `SELECT * FROM resources WHERE kind = 'MeshService' FOR UPDATE`,
    );
    await east.put('MeshService', 'redis', { ...SPEC, state: 'late' });
    await lock.stopped(1);
    const newer = await world.zone('east');
    await east.lapse();
    await newer.join(second);
    await lock.stopped(2);
    expect(second.sync?.reports().has('east')).toBe(false);
    await newer.put('MeshService', 'redis', { ...SPEC, state: 'newest' });
    await lock.release();
    await second.holds(redis(), ({ spec }) => spec['state'] === 'newest');
    expect(await copies()).toEqual(['late', 'newest']);
  });

  it.each([
    ['resumes', Object.values(Extension)],
    ['begins with the whole state', Object.values(Extension).filter((feature) => feature !== Extension.resume)],
  ])(
    'a zone that %s on a replica that lags loses nothing that the replica has not heard of (I5)',
    async (_, features) => {
      const other = await world.zone('north', { features });
      await other.join(first);
      await other.until(() => other.names('Zone').length === 2);
      second.gate.shut();
      await east.put('MeshService', 'redis', SPEC);
      await other.holds(redis());
      await first.report('north', 'MeshService');
      await other.leave();
      await recordVersions(world.homes.url('north'));
      await other.join(second);
      await until('north is on the replica that lags', () => second.sync?.reports().has('north'));
      expect(second.names('MeshService')).toEqual([]);
      // Time enough for an answer that must not be given yet.
      for (const name of LATER) {
        await east.put('MeshService', name, SPEC);
        await first.holds(east.id('MeshService', name));
      }
      second.gate.open();
      await other.until(() => other.names('MeshService').length === LATER.length + 1);
      const seen = await readVersions(world.homes.url('north'), 'MeshService');
      expect(seen.filter(({ living }) => !living)).toEqual([]);
      expect(other.get(redis())).toBeDefined();
    },
  );
});
