import { globalIdentity, identityKey, type Identity, type Labels } from '@causeway/resources';
import { parseGenerator } from './parsed-generator';
import { ClaimTable } from './claim-table';

interface TestService {
  readonly id: Identity;
  readonly labels: Labels;
  readonly creationOrder: number;
}

function service(
  name: string,
  rest: { labels?: Labels; born?: number; kind?: string; mesh?: string; zone?: string } = {},
): TestService {
  const { labels = {}, born = 1, kind = 'MeshService', mesh = 'default', zone = 'east' } = rest;
  return {
    id: { kind, mesh, zone, namespace: kind === 'MeshService' ? 'default' : '', name },
    labels,
    creationOrder: born,
  };
}

function generator(name: string, template: string, rest: { selector?: object; made?: number; here?: boolean } = {}) {
  const { selector = { meshService: {} }, made = 1, here = false } = rest;
  const id = { kind: 'HostnameGenerator', mesh: '', zone: here ? 'east' : '', namespace: '', name };
  return parseGenerator({ id, creationOrder: made, spec: { selector: { ...selector }, template } }, here);
}

function tableOf(
  services: readonly TestService[],
  generators: readonly ReturnType<typeof generator>[],
  meshes = ['default'],
): ClaimTable {
  const table = new ClaimTable('east');
  for (const mesh of meshes) table.addMesh(mesh);
  for (const rule of generators) table.upsertGenerator(rule);
  for (const each of services) table.upsertService(each);
  table.takeChanged();
  return table;
}

function addresses(table: ClaimTable, of: TestService): string[] {
  return table
    .listAddresses(identityKey(of.id))
    .map(({ hostname, status, reason, origin }) => [origin.name, hostname, status, reason].join(' | '));
}

describe('addressesOf', () => {
  test('T001-16: has the exact shape of the seed', () => {
    const redis = service('redis');
    const table = tableOf(
      [redis],
      [generator('g', '{{ name }}.mesh'), generator('h', '{{ label "x" }}.mesh', { made: 2 })],
    );
    expect(table.listAddresses(identityKey(redis.id))).toStrictEqual([
      { hostname: 'redis.mesh', status: 'Available', origin: { kind: 'HostnameGenerator', name: 'g' } },
      { status: 'NotAvailable', origin: { kind: 'HostnameGenerator', name: 'h' }, reason: 'label "x" is missing' },
    ]);
  });

  test('an unreachable service keeps its names from others and shows them as NotAvailable, and only it is touched', () => {
    const [older, younger] = [service('older', { born: 1 }), service('younger', { born: 2 })];
    const table = tableOf([older, younger], [generator('g', 'one.mesh')]);
    table.upsertService(older, identityKey(older.id), 'unreachable: why');
    expect([...table.takeChanged()]).toEqual([identityKey(older.id)]);
    expect(addresses(table, older)).toEqual(['g | one.mesh | NotAvailable | unreachable: why']);
    expect(addresses(table, younger)[0]).toMatch(/NotAvailable \| clash with MeshService east\/default\/older/);
    expect(table.claimsOn('default', 'one.mesh').map(({ unreachable }) => unreachable)).toEqual([
      'unreachable: why',
      undefined,
    ]);
    table.upsertService(older, identityKey(older.id), 'unreachable: why');
    expect(table.takeChanged().size).toBe(0);
    table.upsertService(older);
    expect([...table.takeChanged()]).toEqual([identityKey(older.id)]);
    expect(addresses(table, older)).toEqual(['g | one.mesh | Available | ']);
  });

  test('T001-12: `labels` and `matchLabels` select the same, `{}` all of the kind, and both together what has both', () => {
    const [a, b] = [service('a', { labels: { app: 'x', tier: 'y' } }), service('b', { labels: { app: 'x' } })];
    const table = tableOf(
      [a, b],
      [
        generator('all', '{{ name }}.all', { selector: { meshService: {} }, made: 1 }),
        generator('kuma', '{{ name }}.kuma', { selector: { meshService: { matchLabels: { app: 'x' } } }, made: 2 }),
        generator('seed', '{{ name }}.seed', { selector: { meshService: { labels: { app: 'x' } } }, made: 3 }),
        generator('both', '{{ name }}.both', {
          selector: { meshService: { labels: { app: 'x' }, matchLabels: { tier: 'y' } } },
          made: 4,
        }),
        generator('other', '{{ name }}.other', { selector: { meshExternalService: {} }, made: 5 }),
        generator('broken', '{{ name }}.broken', { selector: { meshService: 'x' }, made: 6 }),
      ],
    );
    expect(addresses(table, a).map((line) => line.split(' ')[0])).toEqual(['all', 'kuma', 'seed', 'both']);
    expect(addresses(table, b).map((line) => line.split(' ')[0])).toEqual(['all', 'kuma', 'seed']);
  });

  test('a generator with an extension, which is not known here, names nothing', () => {
    const a = service('a');
    const id = globalIdentity('HostnameGenerator', 'g');
    const spec = { selector: { meshService: {} }, template: '{{ name }}.mesh', extension: { type: 'x' } };
    expect(addresses(tableOf([a], [parseGenerator({ id, creationOrder: 1, spec }, false)]), a)).toEqual([]);
  });

  test('one mesh is selected by its computed label (peers 39)', () => {
    const [a, b] = [
      service('a', { labels: { 'kuma.io/mesh': 'default' } }),
      service('b', { mesh: 'other', labels: { 'kuma.io/mesh': 'other' } }),
    ];
    const rule = generator('g', '{{ name }}.m', { selector: { meshService: { labels: { 'kuma.io/mesh': 'other' } } } });
    const table = tableOf([a, b], [rule], ['default', 'other']);
    expect([addresses(table, a), addresses(table, b)]).toEqual([[], ['g | b.m | Available | ']]);
  });

  test('implied labels select', () => {
    const a = service('a');
    const table = tableOf(
      [a],
      [
        generator('g', '{{ name }}.m', {
          selector: { meshService: { labels: { 'k8s.kuma.io/namespace': 'default' } } },
        }),
      ],
    );
    expect(addresses(table, a)).toEqual(['g | a.m | Available | ']);
  });

  test('a synced template that cannot be parsed is reported, not guessed', () => {
    const a = service('a');
    const table = tableOf([a], [generator('g', '{{ printf "%s" .Name }}.mesh')]);
    expect(addresses(table, a)[0]).toMatch(
      /^g \| {2}\| NotAvailable \| the template of HostnameGenerator g cannot be used: /,
    );
  });

  test('T001-18: the loser keeps the name, NotAvailable, and names the winner and the rule', () => {
    const [old, young] = [service('old', { born: 1 }), service('young', { born: 2 })];
    const table = tableOf([young, old], [generator('g', 'cache.mesh')]);
    expect(addresses(table, old)).toEqual(['g | cache.mesh | Available | ']);
    expect(addresses(table, young)).toEqual([
      'g | cache.mesh | NotAvailable | clash with MeshService east/default/old: it is the older service',
    ]);
  });

  test('kinds of service share one space of names', () => {
    const [ms, mes] = [service('x', { born: 2 }), service('x', { born: 1, kind: 'MeshExternalService', zone: '' })];
    const table = tableOf(
      [ms, mes],
      [generator('a', 'x.mesh'), generator('b', 'x.mesh', { selector: { meshExternalService: {} }, made: 2 })],
    );
    expect(addresses(table, ms)).toEqual(['a | x.mesh | Available | ']);
    expect(addresses(table, mes)[0]).toContain(
      'NotAvailable | clash with MeshService east/default/x: its generator "a" is older than "b"',
    );
  });

  test('one service wins one name by two generators', () => {
    const [a, b] = [service('a', { born: 1 }), service('b', { born: 2 })];
    const table = tableOf([a, b], [generator('g', 'n.mesh', { made: 1 }), generator('h', 'n.mesh', { made: 2 })]);
    expect(addresses(table, a)).toEqual(['g | n.mesh | Available | ', 'h | n.mesh | Available | ']);
    expect(addresses(table, b).every((line) => line.includes('NotAvailable'))).toBe(true);
  });

  test('T001-19: names of two meshes do not meet', () => {
    const [a, b] = [service('a'), service('b', { mesh: 'other' })];
    const table = tableOf([a, b], [generator('g', 'n.mesh')], ['default', 'other']);
    expect([...addresses(table, a), ...addresses(table, b)]).toEqual([
      'g | n.mesh | Available | ',
      'g | n.mesh | Available | ',
    ]);
  });

  test('a service whose Mesh is missing is not named until it comes, and no longer when it goes', () => {
    const a = service('a', { mesh: 'other' });
    const table = tableOf([a], [generator('g', '{{ name }}.{{ .Mesh }}')]);
    expect(addresses(table, a)).toEqual([]);
    table.addMesh('other');
    expect(addresses(table, a)).toEqual(['g | a.other | Available | ']);
    table.takeChanged();
    table.removeMesh('other');
    expect(table.takeChanged()).toEqual(new Set([identityKey(a.id)]));
    expect(addresses(table, a)).toEqual([]);
  });

  test('come by the precedence of their generators, as in the seed', () => {
    const a = service('a');
    const rules = [
      generator('z', '{{ name }}.1', { here: true, made: 9 }),
      generator('y', '{{ name }}.2', { made: 1 }),
      generator('a', '{{ name }}.3', { made: 2 }),
      generator('b', '{{ name }}.4', { made: 2 }),
      generator('aa', '{{ name }}.5', { made: 0 }),
    ];
    for (const order of [rules, [...rules].reverse()]) {
      expect(addresses(tableOf([a], order), a).map((line) => line.split(' ')[0])).toEqual(['z', 'y', 'a', 'b', 'aa']);
    }
  });

  test('of an unknown service are none', () => {
    expect(tableOf([], [generator('g', 'x.mesh')]).listAddresses('nobody')).toEqual([]);
  });
});

describe('takeTouched', () => {
  const rule = generator('g', '{{ label "app" }}.mesh');
  const three = ['a', 'b', 'c'].map((name, i) => service(name, { labels: { app: 'x' }, born: i + 1 }));
  const keys = three.map(({ id }) => identityKey(id));

  test('a new status of the same service touches nobody', () => {
    const table = tableOf(three, [rule]);
    for (const each of three) table.upsertService({ ...each, labels: { ...each.labels } });
    table.upsertGenerator(generator('g', '{{ label "app" }}.mesh'));
    expect(table.takeChanged().size).toBe(0);
  });

  test('the removal of a loser touches only itself, of the winner all that are left', () => {
    const table = tableOf(three, [rule]);
    table.removeService(keys[2] ?? '');
    expect(table.takeChanged()).toEqual(new Set([keys[2]]));
    table.removeService(keys[0] ?? '');
    expect(table.takeChanged()).toEqual(new Set([keys[0], keys[1]]));
  });

  test('a label that nothing reads touches only its service, and no claim', () => {
    const table = tableOf(three, [rule]);
    table.upsertService(service('a', { labels: { app: 'x', color: 'red' }, born: 1 }));
    expect(table.takeChanged()).toEqual(new Set([keys[0]]));
  });

  test('a changed generator touches what it matches or matched', () => {
    const all = Array.from({ length: 50 }, (_, i) =>
      service(`s${i}`, { labels: { app: `a${i}`, team: i < 5 ? 'red' : 'blue' } }),
    );
    const named = (team: string) =>
      generator('g', '{{ name }}.mesh', { selector: { meshService: { labels: { team } } } });
    const table = tableOf(all, [named('none')]);
    table.upsertGenerator(named('red'));
    expect(table.takeChanged().size).toBe(5);
    table.upsertGenerator(
      generator('g', '{{ name }}.moved', { selector: { meshService: { labels: { team: 'red' } } } }),
    );
    expect(table.takeChanged().size).toBe(5);
    table.removeGenerator(identityKey(named('red').id));
    expect(table.takeChanged().size).toBe(5);
  });
});

test('claimsOn lists the claims on a name, the winner first; hostnames what is claimed', () => {
  const services = ['a', 'b', 'c', 'd'].map((name, i) => service(name, { born: 10 - i }));
  const table = tableOf(services, [generator('g', 'n.mesh'), generator('h', '{{ name }}.mesh', { made: 2 })]);
  expect(table.claimsOn('default', 'n.mesh').map((claim) => claim.service.id.name)).toEqual(['d', 'c', 'b', 'a']);
  expect(table.claimsOn('default', 'nobody.mesh')).toEqual([]);
  expect([...table.hostnames('default')].sort()).toEqual(['a.mesh', 'b.mesh', 'c.mesh', 'd.mesh', 'n.mesh']);
  expect([...table.hostnames('nowhere')]).toEqual([]);
});
