import { globalIdentity } from '@causeway/resources';
import { namingFixture } from '../rest/naming-fixture';
import { serviceId, type RestFixture } from '../rest/rest-fixture';
import { runCauseway, type Ran } from './run-causeway';

const zone = (name: string) => ({ id: globalIdentity('Zone', name) });
const generator = (name: string, selector: string, template: string): string =>
  `type: HostnameGenerator\nname: ${name}\nspec:\n  selector: {meshService: {labels: {${selector}}}}\n  template: '${template}'\n`;

describe('causeway apply --dry-run of a HostnameGenerator, on the global', () => {
  let fixture: RestFixture;
  let server: string;

  beforeAll(async () => {
    fixture = await namingFixture({ role: 'global' });
    server = `http://127.0.0.1:${await fixture.server.listen('127.0.0.1', 0)}`;
    await fixture.seed(
      zone('east'),
      zone('west'),
      { id: serviceId('redis'), labels: { team: 'db' } },
      { id: serviceId('web', 'west'), labels: { app: 'web' } },
    );
    await runCauseway(server, ['apply', '-f', '-'], generator('old', 'app: web', 'shop.mesh'));
  });
  afterAll(() => fixture.close());

  const dryRun = (document: string, ...more: string[]): Promise<Ran> =>
    runCauseway(server, ['apply', '--dry-run', ...more, '-f', '-'], document);

  it('tells its names as a zone would see them, and the collision it would lose', async () => {
    const { code, out } = await dryRun(generator('new', 'team: db', 'shop.mesh'), '--seen-from', 'east');
    expect(out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['HostnameGenerator new created (dry run)'],
      ['HOSTNAME', 'MESH', 'SERVICE', 'STATUS', 'COLLISION'],
      [
        'shop.mesh',
        'default',
        'MeshService east/default/redis',
        'NotAvailable',
        'clash with MeshService west/default/web: its generator "old" is older than "new"',
      ],
      [''],
    ]);
    expect(code).toBe(0);
  });

  it('tells the collision it would win, and what the loser would then show', async () => {
    await runCauseway(server, ['apply', '-f', '-'], generator('young', 'team: db', 'new.mesh'));
    const { out } = await dryRun(generator('old', 'app: web', 'new.mesh'), '--seen-from', 'west');
    expect(out).toMatch(
      /new\.mesh +default +MeshService west\/default\/web +Available +won from MeshService east\/default\/redis, which then shows: clash with MeshService west\/default\/web: its generator "old" is older than "young"/,
    );
  });

  it('tells whom it cannot name, and what it would no longer make', async () => {
    const { out } = await dryRun(generator('old', '', '{{ name }}.{{ label "team" }}.mesh'), '--seen-from', 'east');
    expect(out.split('\n').slice(2, 6)).toEqual([
      expect.stringMatching(/^redis\.db\.mesh +default +MeshService east\/default\/redis +Available$/),
      'no name for MeshService west/default/web: label "team" is missing',
      'no longer shop.mesh for MeshService west/default/web (mesh default)',
      expect.stringMatching(/^@@ /),
    ]);
  });

  it('asks for a zone where none is named, and says when there is none of that name', async () => {
    expect((await dryRun(generator('x', '', 'x.mesh'))).out).toContain('--seen-from ZONE tells the names');
    const { code, err } = await dryRun(generator('x', '', 'x.mesh'), '--seen-from', 'north');
    expect([code, err]).toEqual([1, expect.stringContaining('there is no zone "north"')]);
  });
});
