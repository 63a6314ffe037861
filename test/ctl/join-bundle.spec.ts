import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJoinBundle, type JoinBundle } from '@causeway/identity';
import { restFixture } from '../rest/rest-fixture';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { ZoneProgram } from '../support/zone-program';
import { runAsAdmin, runCauseway, type Ran } from './run-causeway';

describe('causeway tokens … --bundle', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-bundle-'));
  let database: TestDatabase;
  let zone: ZoneProgram;
  beforeAll(async () => {
    database = await createTestDatabase();
    zone = await ZoneProgram.start({ DATABASE_URL: database.url, CAUSEWAY_XDS_TLS: 'on' });
    await zone.untilLeading();
  });
  afterAll(async () => {
    await zone?.stop();
    await database?.drop();
    rmSync(folder, { recursive: true });
  });

  const tokens = (...args: readonly string[]): Promise<Ran> => runAsAdmin(zone.restUrl, ['tokens', ...args]);
  const at = (...xds: readonly string[]): readonly string[] => ['--xds', xds.join(',')];
  const printed = ({ code, out, err }: Ran): JoinBundle => {
    const read = readJoinBundle(out);
    if (code !== 0 || !read.ok) throw new Error(`${code}: ${err}`);
    return read.bundle;
  };
  const claims = ({ token }: JoinBundle): unknown =>
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

  it('has the places, what verifies them, and a token of one hour for a Dataplane', async () => {
    const ran = await tokens(
      'dataplane',
      'redis-1',
      '--service',
      'redis',
      '--bundle',
      ...at('10.0.0.1:5678', '[fd00::1]:5678'),
    );
    const bundle = printed(ran);
    expect(bundle).toMatchObject({
      controlPlanes: ['10.0.0.1:5678', '[fd00::1]:5678'],
      zone: 'east',
      mesh: 'default',
      authority: zone.authority,
    });
    expect(bundle.authority).toContain('BEGIN CERTIFICATE');
    const { exp, iat, ...whose } = claims(bundle) as { exp: number; iat: number };
    expect(whose).toMatchObject({ Mesh: 'default', Namespace: 'default', Name: 'redis-1', Services: ['redis'] });
    expect(Math.round((exp - iat) / 60)).toBe(60);
    expect(ran.err).toMatch(/^token [\w-]+ of mesh default \(Dataplane redis-1, serves redis\), valid until /);
  });

  it('has a zone token for the ingress, new or that of a file', async () => {
    const bundle = printed(await tokens('zone', 'east', '--bundle', ...at('10.0.0.1:5678')));
    expect(bundle).toMatchObject({ controlPlanes: ['10.0.0.1:5678'], zone: 'east', authority: zone.authority });
    expect(claims(bundle)).toMatchObject({ Scope: ['ingress'], Zone: 'east' });
    const file = join(folder, 'token');
    writeFileSync(file, `${bundle.token}\n`);
    const again = await tokens('zone', 'east', '--bundle', '--token-file', file, ...at('10.0.0.1:5678'));
    expect(printed(again)).toEqual(bundle);
    expect(again.err).toMatch(/^token [\w-]+: zone east, expires in (?:29|30)d\n$/);
  });

  it('is refused for another zone, with a token of something else, at the global, and beside other forms', async () => {
    const file = join(folder, 'other');
    writeFileSync(file, (await tokens('dataplane', 'redis-1')).out);
    const refused: readonly (readonly [readonly string[], RegExp])[] = [
      [['zone', 'west', '--bundle'], /this is the control plane of zone "east", not of "west"/],
      [['zone', 'east', '--bundle', '--token-file', file, ...at('a:1')], /holds no token of zone east/],
      [['zone', 'east', '--token-file', file], /--token-file is for --bundle/],
      [['zone', 'east', '--bundle', '--token-file', file, '--scope', 'ingress'], /leave them or --token-file out/],
      [['zone', 'east', '--bundle', '-o', 'json'], /--bundle has a form of its own/],
      [['dataplane', 'a', '--bundle', ...at('a:1')], /--bundle needs --service SERVICE/],
      [['dataplane', 'a', '--xds', 'a:1'], /--xds is for --bundle/],
    ];
    for (const [args, err] of refused)
      expect(await tokens(...args)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(err) as string });
    const global = await restFixture({ cp: { role: 'global' } });
    const there = `http://127.0.0.1:${await global.server.listen('127.0.0.1', 0)}`;
    const ran = await runCauseway(there, ['tokens', 'zone', 'east', '--bundle']);
    await global.close();
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain('causeway --context global tokens zone east --scope ingress > FILE');
  });
});
