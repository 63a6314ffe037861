import type { GeneratorDryRun } from '@causeway/api';
import type { JsonObject } from '@causeway/resources';
import { east, generator, mesh, NamingZone, put, service } from '../../../../test/support/naming-zone';
import { ClaimsView } from './claims-view';
import { dryRunGenerator } from './dry-run-generator';

const NEVER = new AbortController().signal;

async function dryRun(...given: Parameters<typeof generator>): Promise<GeneratorDryRun> {
  const zone = await new NamingZone().start(
    mesh('default'),
    put(service('a'), { app: 'x' }),
    put(service('b'), { app: 'x' }),
    put(service('c'), { app: 'Y' }),
    put(service('d')),
    put(service('e', { kind: 'MeshExternalService' })),
    generator('names', '{{ name }}.mesh'),
  );
  await zone.settle();
  const { id, spec } = generator(...given);
  const view = new ClaimsView(zone.index, east);
  const run = await dryRunGenerator(await view.table(NEVER), { id, spec }, NEVER);
  const json: JsonObject = run;
  expect(JSON.parse(JSON.stringify(json))).toEqual(run);
  expect(await zone.turn()).toEqual([]);
  view.close();
  return run;
}

const only = (labels: JsonObject): JsonObject => ({ meshService: { labels } });

describe('dryRunGenerator lists', () => {
  test('the names it would make, and the services it could not name', async () => {
    const run = await dryRun('new', '{{ label "app" }}.{{ name }}.apps');
    expect(run.names).toEqual([
      { mesh: 'default', hostname: 'x.a.apps', service: service('a'), status: 'Available' },
      { mesh: 'default', hostname: 'x.b.apps', service: service('b'), status: 'Available' },
    ]);
    expect(run.unnamed.map(({ service: { name }, reason }) => [name, reason.slice(0, 24)])).toEqual([
      ['c', '"Y.c.apps" is not a vali'],
      ['d', 'label "app" is missing'],
    ]);
  });

  test('the collisions it would lose: the youngest generator, and among its own services the younger', async () => {
    const run = await dryRun('new', '{{ label "app" }}.mesh', { selector: only({ app: 'x' }) });
    expect(run.names.map(({ service: { name }, status, reason }) => [name, status, reason])).toEqual([
      ['a', 'Available', undefined],
      ['b', 'NotAvailable', 'clash with MeshService east/default/a: it is the older service'],
    ]);
    const lost = await dryRun('new', 'd.mesh', { selector: { meshExternalService: {} } });
    expect(lost.names).toEqual([
      {
        mesh: 'default',
        hostname: 'd.mesh',
        service: service('e', { kind: 'MeshExternalService' }),
        status: 'NotAvailable',
        reason: 'clash with MeshService east/default/d: its generator "names" is older than "new"',
      },
    ]);
  });

  test('the collisions it would win, and from whom', async () => {
    const run = await dryRun('new', 'd.mesh', { zone: 'east', selector: only({ app: 'Y' }) });
    expect(run.names).toEqual([
      {
        mesh: 'default',
        hostname: 'd.mesh',
        service: service('c'),
        status: 'Available',
        takesFrom: {
          service: service('d'),
          reason: 'clash with MeshService east/default/c: its generator was made in this zone',
        },
      },
    ]);
  });

  test('no collision of a service with itself', async () => {
    expect((await dryRun('new', '{{ name }}.mesh')).names.map(({ status, takesFrom }) => [status, takesFrom])).toEqual(
      Array.from({ length: 4 }, () => ['Available', undefined]),
    );
  });

  test('what a changed generator would no longer make; it does not collide with what it was', async () => {
    const run = await dryRun('names', '{{ name }}.mesh', { selector: only({ app: 'x' }) });
    expect(run.names.map(({ hostname, status }) => [hostname, status])).toEqual([
      ['a.mesh', 'Available'],
      ['b.mesh', 'Available'],
    ]);
    expect(run.dropped.map(({ hostname }) => hostname).sort()).toEqual(['c.mesh', 'd.mesh']);
  });

  test('a template that is none as a reason for every service', async () => {
    const run = await dryRun('new', '{{ exec "x" }}');
    expect(run.names).toEqual([]);
    expect(run.unnamed[0]?.reason).toMatch(/^the template of HostnameGenerator new cannot be used: /);
  });
});
