import type { JsonObject } from '@causeway/resources';
import { ResourceIndex } from '@causeway/store';
import { east, generator, mesh, NamingZone, put, service } from '../../../../test/support/naming-zone';
import { explainHostname, listHostnames } from './explain-hostname';
import { HostnameExplainer } from './hostname-explainer';

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
    const table = new HostnameExplainer((await contested()).index, east).claims?.table;
    if (!table) throw new Error('a zone has claims');
    const explained: JsonObject = explainHostname(table, { mesh: 'default', hostname: 'Cache.Mesh.' });
    const winner = { rank: 1, service: service('f'), generator: { name: 'local', zone: 'east' }, status: 'Available' };
    expect(explained).toMatchObject({ mesh: 'default', hostname: 'cache.mesh', zone: 'east', winner, hints: [] });
    expect(explained['claims']).toHaveLength(6);
    expect(explainHostname(table, { mesh: 'default', hostname: 'cache.mesh' }).claims.slice(0, 3)).toEqual([
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
    expect(explainHostname(table, { mesh: 'default', hostname: 'cache.mesh' }).claims.at(-1)?.change).toMatch(
      /, and 2 more claims before it go$/,
    );
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
    expect(new HostnameExplainer(index, east).explain({ mesh: 'default', hostname })).toMatchObject({
      claims: [],
      hints,
    });
  });

  test('says of a missing mesh that it is missing', async () => {
    const { index } = await contested();
    const { hints } = new HostnameExplainer(index, east).explain({ mesh: 'nowhere', hostname: 'a.mesh' });
    expect(hints).toEqual(['Mesh "nowhere" is not known in this zone; services of a missing mesh are not named']);
  });
});

describe('listHostnames', () => {
  test('lists names by the alphabet with winner and ranks, in pages', async () => {
    const explainer = new HostnameExplainer((await contested()).index, east);
    const table = explainer.claims?.table;
    if (!table) throw new Error('a zone has claims');
    const all = listHostnames(table, 'default');
    expect(all.map(({ hostname }) => hostname)).toEqual([
      ...['a', 'b'].map((name) => `${name}.x.svc.mesh`),
      ...['c.x.svc.mesh', 'cache.mesh', 'd.x.svc.mesh', 'e.x.svc.mesh', 'f.y.svc.mesh'],
    ]);
    expect(all[3]?.winner.service.name).toBe('f');
    expect(all[3]?.claims.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(listHostnames(table, 'default', { after: 'b.x.svc.mesh', limit: 2 })).toEqual(all.slice(2, 4));
  });
});

describe('HostnameExplainer', () => {
  test('follows the index', async () => {
    const zone = await contested();
    const explainer = new HostnameExplainer(zone.index, east);
    expect(explainer.explain({ mesh: 'default', hostname: 'cache.mesh' }).winner?.service.name).toBe('f');
    await zone.user({ type: 'delete', id: service('f'), expect: 'any' });
    expect(explainer.explain({ mesh: 'default', hostname: 'cache.mesh' }).winner?.service.name).toBe('a');
    zone.index.load(await zone.store.snapshot());
    expect(explainer.explain({ mesh: 'default', hostname: 'cache.mesh' }).claims).toHaveLength(5);
    explainer.close();
  });

  test('on the global answers from what the zone reported', async () => {
    const zone = await contested();
    await zone.settle();
    await zone.user(put({ kind: 'Zone', mesh: '', zone: '', namespace: '', name: 'east' }));
    const index = new ResourceIndex();
    index.load(await zone.store.snapshot());
    const explainer = new HostnameExplainer(index, { role: 'global' });
    const explained = explainer.explain({ mesh: 'default', hostname: 'cache.mesh', zone: 'east' });
    expect(explained.winner).toEqual({ service: service('f'), generator: { name: 'local' }, status: 'Available' });
    expect(explained.claims[1]).toEqual({
      service: service('a'),
      generator: { name: 'global' },
      status: 'NotAvailable',
      reason: 'clash with MeshService east/default/f: its generator was made in this zone',
    });
    expect(explainer.explain({ mesh: 'default', hostname: 'x.y', zone: 'east' })).toMatchObject({
      claims: [],
      hints: [expect.any(String)],
    });
    expect(() => explainer.explain({ mesh: 'default', hostname: 'x.y' })).toThrow('zone: must name the zone');
    expect(() => explainer.explain({ mesh: 'default', hostname: 'x.y', zone: 'west' })).toThrow(
      'there is no zone "west"',
    );
  });

  test('lists: a zone its claims, the global what was reported', async () => {
    const zone = await contested();
    await zone.settle();
    await zone.user(put({ kind: 'Zone', mesh: '', zone: '', namespace: '', name: 'east' }));
    const here = new HostnameExplainer(zone.index, east).list({ mesh: 'default', after: 'c', limit: 2 });
    const there = new HostnameExplainer(zone.index, { role: 'global' }).list({
      mesh: 'default',
      after: 'c',
      limit: 2,
      zone: 'east',
    });
    expect(here.map(({ hostname }) => hostname)).toEqual(['c.x.svc.mesh', 'cache.mesh']);
    expect(there.map(({ hostname }) => hostname)).toEqual(['c.x.svc.mesh', 'cache.mesh']);
    expect(there[1]?.claims).toHaveLength(6);
  });

  test('tries a generator out on the global, as the named zone would see it', async () => {
    const [own, other, gone] = [service('own'), service('other', { zone: 'west' }), service('gone', { zone: 'north' })];
    const zoneNamed = (name: string, enabled: boolean) =>
      put({ kind: 'Zone', mesh: '', zone: '', namespace: '', name }, {}, { enabled });
    const zones = [zoneNamed('east', true), zoneNamed('west', true), zoneNamed('north', false)];
    const services = [own, other, gone].map((id) => put(id, { 'kuma.io/origin': 'zone' }));
    const foreign = generator('not-here', '{{ name }}.synced', { zone: 'west' });
    const { index } = await new NamingZone().start(mesh('default'), ...zones, ...services, foreign);
    const explainer = new HostnameExplainer(index, { role: 'global' });
    const selector = { meshService: { labels: { 'kuma.io/origin': 'global' } } };
    const { id, spec } = generator('new', '{{ name }}.synced', { selector });
    expect(explainer.dryRun({ id, spec }, 'east').names).toEqual([
      { mesh: 'default', hostname: 'other.synced', service: other, status: 'Available' },
    ]);
    expect(() => explainer.dryRun({ id, spec })).toThrow('zone: must name the zone');
  });

  test('of a zone speaks for no other', async () => {
    const explainer = new HostnameExplainer((await contested()).index, east);
    expect(() => explainer.explain({ mesh: 'default', hostname: 'x.y', zone: 'west' })).toThrow(
      'zone: must be "east" or left out here; got "west"',
    );
  });
});
