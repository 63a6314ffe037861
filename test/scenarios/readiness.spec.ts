import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAsAdmin } from '../ctl/run-causeway';
import { adminFetch } from '../support/admin-credential';
import { Link } from '../support/link';
import { dataplane, ProcessMesh } from '../support/process-mesh';
import type { ProcessPlane } from '../support/process-plane';
import { until } from '../support/until';

/** docs/guides/high-availability.md, In front of them: what balancers and monitors ask, while one thing after the other goes. */
describe('/ready of a zone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-ready-'));
  const tokenFile = join(folder, 'east.token');
  const link = new Link();
  let mesh: ProcessMesh;
  let east: ProcessPlane;
  let token = '';

  const ready = async (purpose = ''): Promise<readonly [number, string]> => {
    const answer = await fetch(`${east.diagnosticsUrl}/ready${purpose === '' ? '' : `?for=${purpose}`}`);
    return [answer.status, await answer.text()];
  };
  const says = (words: RegExp, purpose?: string): Promise<unknown> =>
    until(`/ready says ${words.source}`, async () => words.test((await ready(purpose))[1]));
  const statuses = async (): Promise<readonly number[]> =>
    Promise.all(['', 'writes', 'traffic'].map(async (purpose) => (await ready(purpose))[0]));

  beforeAll(async () => {
    await link.listen();
    mesh = new ProcessMesh();
    const url = new URL(await mesh.databaseUrl('east'));
    link.lead(Number(url.port));
    url.port = String(link.port);
    await mesh.startGlobal();
    token = await mesh.zoneToken('east');
    writeFileSync(tokenFile, token);
    const file = { CAUSEWAY_ZONE_TOKEN: '', CAUSEWAY_ZONE_TOKEN_FILE: tokenFile };
    east = await mesh.startZone('east', { DATABASE_URL: url.href, ...file });
    expect(await east.put('/meshes/default/dataplanes/web-1', dataplane('web-1', 'web'))).toBe(201);
  });
  afterAll(async () => {
    await mesh.stop();
    await link.close();
    rmSync(folder, { recursive: true });
  });

  it('has no warning while nothing is wrong, for nothing else than it knows', async () => {
    expect([await ready(), await ready('writes'), await ready('traffic')]).toEqual(Array(3).fill([200, 'ready\n']));
    expect(await ready('fun')).toEqual([400, 'for: must be writes or traffic\n']);
  });

  it('is told at the port of REST where it is, also without a token', async () => {
    const answer = await fetch(`${east.restUrl}/ready`);
    const { detail } = (await answer.json()) as { detail: string };
    expect([answer.status, detail]).toEqual([
      404,
      expect.stringMatching(/is not at this port but at the diagnostics port/),
    ]);
  });

  it('names a token that the global refuses, as doctor does', async () => {
    expect((await runAsAdmin(mesh.global.restUrl, ['tokens', 'revoke', token])).code).toBe(0);
    await says(/warning: the global refuses the token of this zone: .*revoked/);
    expect(await statuses()).toEqual([200, 200, 503]);
    const found = await runAsAdmin(east.restUrl, ['doctor']);
    expect([found.code, found.out]).toEqual([
      1,
      expect.stringMatching(/the global refuses the token of this zone: .*revoked/),
    ]);
  });

  it('names a global that is away, as doctor does', async () => {
    await mesh.global.stop();
    await says(/warning: no session with the global at \S+ since \d+ s: /);
    expect(await statuses()).toEqual([200, 200, 503]);
    const found = await runAsAdmin(east.restUrl, ['doctor']);
    expect([found.code, found.out]).toEqual([
      1,
      expect.stringMatching(/no session with the global at \S+ since \d+ s/),
    ]);
  });

  it('stays 200 with Postgres, leader, global and token gone at once, and says all of it', async () => {
    rmSync(tokenFile);
    link.cut();
    await says(/no leader is known while Postgres is away/);
    await says(/CAUSEWAY_ZONE_TOKEN_FILE/);
    const [status, text] = await ready();
    expect(status).toBe(200);
    expect(text.split('\n')).toEqual([
      'ready',
      expect.stringMatching(/^warning: Postgres at 127\.0\.0\.1:\d+\/\S+ is away: /),
      expect.stringMatching(/^warning: no leader is known/),
      expect.stringMatching(/^warning: the global refuses the token/),
      expect.stringMatching(/^warning: no session with the global/),
      expect.stringMatching(/^warning: CAUSEWAY_ZONE_TOKEN_FILE: /),
      '',
    ]);
    for (const purpose of ['writes', 'traffic'])
      expect(await ready(purpose)).toEqual([503, expect.stringMatching(/^Postgres at .* is away/)]);
    expect((await adminFetch(`${east.restUrl}/meshes/default/meshservices/web`)).status).toBe(200);
  });

  it('doctor lists it then and does not give up', async () => {
    const found = await runAsAdmin(east.restUrl, ['doctor']);
    expect([found.code, found.err]).toEqual([1, '']);
    expect(found.out).toMatch(/Postgres at \S+ is away/);
    expect(found.out).toMatch(/no session with the global/);
    expect(found.out.match(/Postgres at \S+ is away/g)).toHaveLength(1);
  });

  it('has no line of Postgres and leader any more when Postgres is back', async () => {
    link.heal();
    await until('writes are possible', async () => (await ready('writes'))[0] === 200);
    expect((await ready())[1]).not.toMatch(/Postgres/);
  });
});
