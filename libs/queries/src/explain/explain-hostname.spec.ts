import { globalIdentity, type JsonObject } from '@causeway/resources';
import { ResourceIndex } from '@causeway/store';
import { east, generator, mesh, NamingZone, put, service } from '../../../../test/support/naming-zone';
import { meshesOf } from '../../../../test/support/meshes';
import { ClaimsView } from './claims-view';
import type { HostnameExplanation } from '@causeway/api';
import { explainHostname, listHostnames } from './explain-hostname';
import { HostnameExplainer } from './hostname-explainer';

const NEVER = new AbortController().signal;

async function contested(): Promise<NamingZone> {
  const byTeam = (team: string): JsonObject => ({ meshService: { labels: { team } } });
  return new NamingZone().start(
    mesh('default'),
    ...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => put(service(name), { team: name === 'f' ? 'y' : 'x' })),
    generator('global', 'cache.mesh', { selector: byTeam('x') }),
    generator('local', 'cache.mesh', { zone: 'east', selector: byTeam('y') }),
    generator('names', '{{ name }}.{{ label "team" }}.svc.mesh'),
  );
}

describe('explainHostname', () => {
  test('says who claims a name, who wins, by which rule, and what would have to change', async () => {
    const table = await new ClaimsView((await contested()).index, east).table(NEVER);
    const explained: JsonObject = await explainHostname(table, { mesh: 'default', hostname: 'Cache.Mesh.' }, NEVER);
    const winner = { rank: 1, service: service('f'), generator: { name: 'local', zone: 'east' }, status: 'Available' };
    expect(explained).toMatchObject({ mesh: 'default', hostname: 'cache.mesh', zone: 'east', winner, hints: [] });
    expect(explained['claims']).toHaveLength(6);
    const { claims } = await explainHostname(table, { mesh: 'default', hostname: 'cache.mesh' }, NEVER);
    expect(claims.slice(0, 3)).toEqual([
      winner,
      {
        rank: 2,
        service: service('a'),
        generator: { name: 'global', zone: '' },
        status: 'NotAvailable',
        rule: 'generator-made-here',
        reason: 'clash with MeshService east/default/f: its generator was made in this zone',
        change:
          'it gets the name when MeshService east/default/f is deleted or no longer named so by HostnameGenerator "local"',
      },
      expect.objectContaining({ rank: 3, service: service('b') }),
    ]);
    expect(claims.at(-1)?.change).toMatch(/, and 2 more claims before it go$/);
  });

  test.each([
    [
      'g.x.svc.mesh',
      ['HostnameGenerator "names" would give it to a MeshService with name "g", label "team" "x"; there is none'],
    ],
    [
      'a.z.svc.mesh',
      [
        'HostnameGenerator "names" would give it to a MeshService with name "a", label "team" "z"; there is none',
        'names that begin like it: a.x.svc.mesh',
      ],
    ],
    ['nobody.example', ['no HostnameGenerator of this zone makes names of this form']],
  ])('says of %s, which nobody claims, what would have to be there', async (hostname, hints) => {
    const { index } = await contested();
    expect(await new HostnameExplainer(index, east).explain({ mesh: 'default', hostname }, NEVER)).toMatchObject({
      claims: [],
      hints,
    });
  });

  test('reports a missing mesh', async () => {
    const { index } = await contested();
    const { hints } = await new HostnameExplainer(index, east).explain({ mesh: 'nowhere', hostname: 'a.mesh' }, NEVER);
    expect(hints).toEqual(['Mesh "nowhere" is not known in this zone; services of a missing mesh are not named']);
  });

  test('T000-07 says of a mesh of another controller whose it is', async () => {
    const theirs = { ...mesh('theirs'), spec: { controllerName: 'example.com/other' } };
    const { index } = await new NamingZone().start(theirs);
    const explainer = new HostnameExplainer(index, east, meshesOf(index));
    const { hints } = await explainer.explain({ mesh: 'theirs', hostname: 'a.mesh' }, NEVER);
    expect(hints).toEqual([
      'Mesh "theirs" belongs to the controller "example.com/other": its services get no hostname and no new address here',
    ]);
  });
});

describe('listHostnames', () => {
  test('lists names by the alphabet with winner and ranks, in pages', async () => {
    const table = await new ClaimsView((await contested()).index, east).table(NEVER);
    const { total, items: all } = await listHostnames(table, 'default', { offset: 0, size: 100 }, NEVER);
    expect(total).toBe(7);
    expect(all.map(({ hostname }) => hostname)).toEqual([
      ...['a', 'b'].map((name) => `${name}.x.svc.mesh`),
      'c.x.svc.mesh',
      'cache.mesh',
      'd.x.svc.mesh',
      'e.x.svc.mesh',
      'f.y.svc.mesh',
    ]);
    expect(all[3]?.winner?.service.name).toBe('f');
    expect(all[3]?.claims.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5, 6]);
    const some = await listHostnames(table, 'default', { containing: '.x.', offset: 2, size: 2 }, NEVER);
    expect(some.items.map(({ hostname }) => hostname)).toEqual(['c.x.svc.mesh', 'd.x.svc.mesh']);
    expect(some.total).toBe(5);
  });
});

describe('HostnameExplainer', () => {
  test('follows the index', async () => {
    const zone = await contested();
    const explainer = new HostnameExplainer(zone.index, east);
    const explain = (): Promise<HostnameExplanation> =>
      explainer.explain({ mesh: 'default', hostname: 'cache.mesh' }, NEVER);
    expect((await explain()).winner?.service.name).toBe('f');
    await zone.user({ type: 'delete', id: service('f'), expect: 'any' });
    expect((await explain()).winner?.service.name).toBe('a');
    zone.index.load(await zone.store.snapshot());
    expect((await explain()).claims).toHaveLength(5);
    explainer.close();
  });

  test('on the global computes the view of the named zone, also of the services of others', async () => {
    const zone = await contested();
    await zone.settle();
    const zoneNamed = (name: string) => put(globalIdentity('Zone', name), {}, { enabled: true });
    await zone.user(zoneNamed('east'));
    await zone.user(zoneNamed('west'));
    const index = new ResourceIndex();
    index.load(await zone.store.snapshot());
    const explainer = new HostnameExplainer(index, { role: 'global' });
    const question = { mesh: 'default', hostname: 'cache.mesh' };
    const inEast = await explainer.explain({ ...question, zone: 'east' }, NEVER);
    const local = { name: 'local', zone: 'east' };
    expect(inEast.winner).toEqual({ rank: 1, service: service('f'), generator: local, status: 'Available' });
    expect(inEast.claims).toHaveLength(6);
    expect(inEast.note).toContain('computed on the global for zone "east"');
    const inWest = await explainer.explain({ ...question, zone: 'west' }, NEVER);
    expect(inWest.winner).toMatchObject({ rank: 1, service: service('a'), generator: { name: 'global', zone: '' } });
    expect(inWest.claims.map(({ service: { name } }) => name)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(await explainer.explain({ mesh: 'default', hostname: 'x.y', zone: 'east' }, NEVER)).toMatchObject({
      claims: [],
      hints: [expect.any(String)],
    });
    await expect(explainer.explain({ mesh: 'default', hostname: 'x.y' }, NEVER)).rejects.toThrow(
      'zone: must name the zone',
    );
    await expect(explainer.explain({ mesh: 'default', hostname: 'x.y', zone: 'north' }, NEVER)).rejects.toThrow(
      'there is no zone "north"',
    );
  });

  test('on the global shows what the zone reported where it decided otherwise', async () => {
    const zone = await contested();
    await zone.settle();
    await zone.user(put(globalIdentity('Zone', 'east'), {}, { enabled: true }));
    // A generator that the zone has not got yet: the global would give it the name, the zone has not.
    await zone.user(
      generator('later', 'a.x.svc.mesh', { zone: 'east', selector: { meshService: { labels: { team: 'y' } } } }),
    );
    const index = new ResourceIndex();
    index.load(await zone.store.snapshot());
    const explainer = new HostnameExplainer(index, { role: 'global' });
    const { claims, winner } = await explainer.explain(
      { mesh: 'default', hostname: 'a.x.svc.mesh', zone: 'east' },
      NEVER,
    );
    expect(claims.map(({ service: { name }, status }) => [name, status])).toEqual([
      ['f', 'Available'],
      ['a', 'Available'],
    ]);
    expect(claims[1]).not.toHaveProperty('rule');
    expect(winner?.service.name).toBe('f');
  });

  test('on the global lists the hostnames that zones reported of their own services, with all claims and no winner', async () => {
    const zone = await contested();
    await zone.settle();
    const index = new ResourceIndex();
    index.load(await zone.store.snapshot());
    const explainer = new HostnameExplainer(index, { role: 'global' });
    const page = await explainer.list('default', { containing: 'c', offset: 1, size: 1 }, NEVER);
    expect(page).toEqual({ total: 7, items: [{ hostname: 'b.x.svc.mesh', claims: [expect.anything()] }] });
    const { items } = await explainer.list('default', { containing: 'cache', offset: 0, size: 9 }, NEVER);
    expect(items.map(({ hostname }) => hostname)).toEqual(['cache.mesh']);
    expect(items[0]).not.toHaveProperty('winner');
    expect(items[0]?.claims.map(({ service: { name }, status }) => [name, status])).toEqual([
      ['f', 'Available'],
      ...['a', 'b', 'c', 'd', 'e'].map((name) => [name, 'NotAvailable']),
    ]);
    expect(await explainer.list('other', { offset: 0, size: 9 }, NEVER)).toEqual({ total: 0, items: [] });
  });

  test('tries again after a failure', async () => {
    const { index } = await contested();
    const failing = jest.spyOn(index, 'ofKind').mockImplementationOnce(() => {
      throw new Error('broken');
    });
    const view = new ClaimsView(index, east);
    await expect(view.table(NEVER)).rejects.toThrow('broken');
    expect((await view.table(NEVER)).serviceCount).toBe(6);
    expect(failing).toHaveBeenCalled();
    view.close();
  });

  test('while it takes everything in, misses no change and no reading anew', async () => {
    const zone = await contested();
    const explainer = new HostnameExplainer(zone.index, east);
    const explained = explainer.explain({ mesh: 'default', hostname: 'cache.mesh' }, NEVER);
    zone.index.load(await zone.store.snapshot());
    await zone.user({ type: 'delete', id: service('f'), expect: 'any' });
    expect((await explained).winner?.service.name).toBe('a');
    explainer.close();
  });

  test('tries a generator out on the global, as the named zone would see it', async () => {
    const [own, other, gone] = [service('own'), service('other', { zone: 'west' }), service('gone', { zone: 'north' })];
    const zoneNamed = (name: string, enabled: boolean) => put(globalIdentity('Zone', name), {}, { enabled });
    const zones = [zoneNamed('east', true), zoneNamed('west', true), zoneNamed('north', false)];
    const services = [own, other, gone].map((id) => put(id, { 'kuma.io/origin': 'zone' }));
    const foreign = generator('not-here', '{{ name }}.synced', { zone: 'west' });
    const { index } = await new NamingZone().start(mesh('default'), ...zones, ...services, foreign);
    const explainer = new HostnameExplainer(index, { role: 'global' });
    const selector = { meshService: { labels: { 'kuma.io/origin': 'global' } } };
    const { id, spec } = generator('new', '{{ name }}.synced', { selector });
    expect((await explainer.dryRun({ id, spec }, 'east', NEVER)).names).toEqual([
      { mesh: 'default', hostname: 'other.synced', service: other, status: 'Available' },
    ]);
    await expect(explainer.dryRun({ id, spec }, undefined, NEVER)).rejects.toThrow('zone: must name the zone');
  });

  test('of a zone speaks for no other', async () => {
    const explainer = new HostnameExplainer((await contested()).index, east);
    await expect(explainer.explain({ mesh: 'default', hostname: 'x.y', zone: 'west' }, NEVER)).rejects.toThrow(
      'zone: must be "east" or left out here; got "west"',
    );
  });
});
