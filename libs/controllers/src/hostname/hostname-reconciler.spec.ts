import { generator, mesh, NamingZone as Zone, put, service } from '../../../../test/support/naming-zone';

const seed =
  '{{ label "k8s.kuma.io/service-name" }}.{{ label "k8s.kuma.io/namespace" }}.svc.mesh.{{ label "kuma.io/zone" }}';

describe('hostname loop', () => {
  test('T001-14, T001-16, T001-17: writes what the seed says, and nothing more when nothing changed (I10)', async () => {
    const redis = service('redis.demo-app', { namespace: 'demo-app' });
    const labels = { 'k8s.kuma.io/service-name': 'redis', 'k8s.kuma.io/namespace': 'demo-app', 'kuma.io/zone': 'east' };
    const selector = { meshService: { labels: { 'kuma.io/zone': 'east' } } };
    const zone = await new Zone().start(
      mesh('default'),
      put(redis, labels),
      generator('k8s-zone-hostnames', seed, { selector }),
    );
    await zone.settle();
    expect((await zone.store.get(redis))?.status).toEqual({
      addresses: [
        {
          hostname: 'redis.demo-app.svc.mesh.east',
          status: 'Available',
          origin: { kind: 'HostnameGenerator', name: 'k8s-zone-hostnames' },
        },
      ],
    });
    const { writes } = zone;
    await zone.user(put(redis, labels));
    await zone.settle();
    zone.loop.reset(zone.index);
    await zone.settle();
    expect(zone.writes).toBe(writes);
  });

  test('a generator that was stored before there were bounds names nothing, and the others do', async () => {
    const crowded = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`label-${i}`, 'x']));
    const zone = await new Zone().start(
      mesh('default'),
      put(service('a')),
      generator('braces', '{{'.repeat(60_000)),
      generator('crowded', '{{ name }}.crowd', { selector: { meshService: { labels: crowded } } }),
      generator('good', '{{ name }}.mesh'),
    );
    await zone.settle();
    const shown = await zone.shown(service('a'));
    expect(shown).toContain('a.mesh Available');
    expect(shown).toContainEqual(expect.stringContaining('it has 120000 characters, 1024 are allowed'));
    expect(shown.join('\n')).not.toContain('crowd');
    expect(shown.join('\n').length).toBeLessThan(1_000);
  });

  test('T001-15: a missing label gives NotAvailable without a hostname', async () => {
    const zone = await new Zone().start(mesh('default'), put(service('a')), generator('g', '{{ label "team" }}.mesh'));
    await zone.settle();
    expect(await zone.shown(service('a'))).toEqual(['- NotAvailable label "team" is missing']);
  });

  test('T001-18: a generator of the zone takes the name from one of the global, the loser first, in two writes', async () => {
    const [a, b] = [service('a'), service('b')];
    const zone = await new Zone().start(
      mesh('default'),
      put(a, { team: 'x' }),
      put(b, { team: 'y' }),
      generator('global', 'cache.mesh', { selector: { meshService: { labels: { team: 'x' } } } }),
    );
    await zone.settle();
    expect(await zone.shown(a)).toEqual(['cache.mesh Available']);
    await zone.user(
      generator('local', 'cache.mesh', { zone: 'east', selector: { meshService: { labels: { team: 'y' } } } }),
    );
    expect((await zone.turn()).map(({ id }) => id.name)).toEqual(['a']);
    expect(await zone.shown(a)).toEqual([
      'cache.mesh NotAvailable clash with MeshService east/default/b: its generator was made in this zone',
    ]);
    expect(await zone.shown(b)).toEqual([]);
    expect((await zone.turn()).map(({ id }) => id.name)).toEqual(['b']);
    expect(await zone.shown(b)).toEqual(['cache.mesh Available']);
    expect(await zone.turn()).toEqual([]);
  });

  test('a winner waits while the loser cannot be written', async () => {
    const [a, b] = [service('a'), service('b')];
    const zone = await new Zone().start(mesh('default'), put(a), generator('g', '{{ label "name" }}.mesh'));
    await zone.user(put(a, { name: 'n' }));
    await zone.settle();
    // a releases the name, b takes it; between plan and write a user changes a, so its row is refused.
    await zone.user(put(a, { name: 'other' }), put(b, { name: 'n' }));
    await zone.turn(() => zone.store.write({ changes: [put(a, { name: 'third' })], onRefusal: 'abort' }));
    expect([await zone.shown(a), await zone.shown(b)]).toEqual([['n.mesh Available'], []]);
    expect((await zone.turn()).map(({ id }) => id.name)).toEqual(['a']);
    await zone.settle();
    expect([await zone.shown(a), await zone.shown(b)]).toEqual([['third.mesh Available'], ['n.mesh Available']]);
  });

  test('two services swap their names: no deadlock, and never both', async () => {
    const [a, b] = [service('a'), service('b')];
    const zone = await new Zone().start(
      mesh('default'),
      put(a, { name: 'x' }),
      put(b, { name: 'y' }),
      generator('g', '{{ label "name" }}.mesh'),
    );
    await zone.settle();
    await zone.user(put(a, { name: 'y' }), put(b, { name: 'x' }));
    await zone.turn();
    expect(await zone.shown(a)).toEqual(['y.mesh NotAvailable waits until MeshService east/default/b has released it']);
    expect(await zone.shown(b)).toEqual(['x.mesh NotAvailable waits until MeshService east/default/a has released it']);
    await zone.settle();
    expect([await zone.shown(a), await zone.shown(b)]).toEqual([['y.mesh Available'], ['x.mesh Available']]);
  });

  test("a winner's removal promotes the next one only", async () => {
    const three = ['a', 'b', 'c'].map((name) => service(name));
    const [a, b, c] = three;
    if (!a || !b || !c) throw new Error('three');
    const zone = await new Zone().start(mesh('default'), ...three.map((id) => put(id)), generator('g', 'n.mesh'));
    await zone.settle();
    await zone.user({ type: 'delete', id: a, expect: 'any' });
    await zone.settle();
    expect(await zone.shown(b)).toEqual(['n.mesh Available']);
    expect(await zone.shown(c)).toEqual([
      'n.mesh NotAvailable clash with MeshService east/default/b: it is the older service',
    ]);
  });

  test("other controllers' status stays, and no address is left when the generator goes", async () => {
    const a = service('a');
    const zone = await new Zone().start(mesh('default'), put(a), generator('g', '{{ name }}.mesh'));
    await zone.user({ type: 'patch', id: a, expect: 'any', status: { vip: { ip: '241.0.0.1', type: 'Kuma' } } });
    await zone.settle();
    expect(await zone.shown(a)).toEqual(['a.mesh Available']);
    await zone.user({ type: 'delete', id: generator('g', 'x').id, expect: 'any' });
    await zone.settle();
    expect((await zone.store.get(a))?.status).toEqual({ vip: { ip: '241.0.0.1', type: 'Kuma' }, addresses: [] });
  });

  test('a new leader takes nothing away from a winner (I3, I10)', async () => {
    const zone = await new Zone().start(
      mesh('default'),
      ...['a', 'b'].map((name) => put(service(name))),
      generator('g', 'n.mesh'),
    );
    await zone.settle();
    const { writes } = zone;
    zone.takeOver();
    await zone.settle();
    expect(zone.writes).toBe(writes);
  });

  test('services of a mesh that is missing are not named', async () => {
    const a = service('a', { mesh: 'other' });
    const zone = await new Zone().start(put(a), generator('g', '{{ name }}.mesh'));
    await zone.settle();
    expect((await zone.store.get(a))?.status).toBeUndefined();
    await zone.user(mesh('other'));
    await zone.settle();
    expect(await zone.shown(a)).toEqual(['a.mesh Available']);
  });

  test('more than one batch, losers before winners', async () => {
    const many = Array.from({ length: 700 }, (_, i) => service(`s${i}`));
    const zone = await new Zone().start(
      mesh('default'),
      ...many.map((id) => put(id)),
      generator('g', '{{ name }}.mesh'),
    );
    expect(await zone.turn()).toHaveLength(500);
    await zone.settle();
    expect(await zone.shown(service('s699'))).toEqual(['s699.mesh Available']);
  });
});
