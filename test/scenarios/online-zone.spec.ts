import { runAsAdmin } from '../ctl/run-causeway';
import { KumaZone } from '../support/kuma-zone';
import { dataplane, ProcessMesh } from '../support/process-mesh';
import { until } from '../support/until';

/** docs/guides/zones.md, Delete a zone: the deletion of one that is Online is an outage, so it is refused. */
describe('a zone that is Online', () => {
  let mesh: ProcessMesh;
  const kuma = new KumaZone('kuma');
  const REFUSED = /zone east is Online, and its deletion would be an outage: the names of its 1 service are gone/;
  const zones = async (): Promise<readonly unknown[]> => {
    const list = await mesh.global.get('/zones');
    return (list?.['items'] as { name: string }[]).map(({ name }) => name);
  };
  const causeway = (...args: readonly string[]) => runAsAdmin(mesh.global.restUrl, args);

  beforeAll(async () => {
    mesh = new ProcessMesh();
    await mesh.startGlobal({ CAUSEWAY_KDS_AUTH: 'none', CAUSEWAY_KDS_TLS: 'off' });
    const east = await mesh.startZone('east');
    expect(await east.put('/meshes/default/dataplanes/web-1', dataplane('web-1', 'web'))).toBe(201);
    await until('the global has the service', () => mesh.global.get('/meshes/default/meshservices/web?zone=east'));
    const port = Number(mesh.global.kdsAddress.split(':')[1]);
    kuma.tell({ port }, {});
    kuma.ask({ port }, ['Mesh']);
    await until('both are Online', async () => {
      const overviews = await mesh.global.get('/zones+insights');
      const healths = (overviews?.['items'] as { zoneInsight?: { health?: string } }[]).map(
        ({ zoneInsight }) => zoneInsight?.health,
      );
      return healths.length === 2 && healths.every((health) => health === 'Online');
    });
  });
  afterAll(async () => {
    kuma.leave();
    await mesh.stop();
  });

  it('is not deleted over REST, also not in a dry run, and the answer says what to do', async () => {
    for (const query of ['', '?dryRun=true']) {
      const answer = await mesh.global.fetch(`/zones/east${query}`, { method: 'DELETE' });
      const { detail } = (await answer.json()) as { detail: string };
      expect([answer.status, detail]).toEqual([409, expect.stringMatching(REFUSED)]);
      expect(detail).toMatch(/causeway zones disable east.*causeway tokens revoke ID.*--force/);
    }
    expect(await zones()).toContain('east');
  });

  it('is not deleted where it is one of plain Kuma', async () => {
    expect(await mesh.global.delete('/zones/kuma')).toBe(409);
    expect(await zones()).toContain('kuma');
  });

  it('is not deleted by the command line, over REST or gRPC, alone or with others', async () => {
    for (const server of [mesh.global.restUrl, mesh.global.grpcUrl]) {
      const one = await runAsAdmin(server, ['delete', 'zone', 'east']);
      expect([one.code, one.err]).toEqual([1, expect.stringMatching(REFUSED)]);
    }
    const file = ['east', 'kuma'].map((name) => JSON.stringify({ type: 'Zone', name })).join('\n---\n');
    const both = await runAsAdmin(mesh.global.restUrl, ['delete', '-f', '-'], file);
    expect([both.code, both.err]).toEqual([1, expect.stringMatching(/zone kuma is Online[^]*zone east is Online/)]);
    expect(await zones()).toEqual(['east', 'kuma']);
  });

  it('is not pruned', async () => {
    expect((await causeway('label', 'zone/east', 'set=ours')).code).toBe(0);
    const document = JSON.stringify({ type: 'Zone', name: 'north', labels: { set: 'ours' }, spec: {} });
    const pruned = await runAsAdmin(mesh.global.restUrl, ['apply', '-f', '-', '--prune', '-l', 'set=ours'], document);
    expect([pruned.code, pruned.err]).toEqual([1, expect.stringMatching(REFUSED)]);
    expect(await zones()).toContain('east');
  });

  it('is not deleted while it is disabled either, and is once its session is over', async () => {
    expect((await causeway('zones', 'disable', 'kuma')).code).toBe(0);
    expect(await mesh.global.delete('/zones/kuma')).toBe(409);
    kuma.leave();
    await until('it is gone', async () => (await mesh.global.delete('/zones/kuma')) === 200);
  });

  it('is deleted by force, which says what that costs', async () => {
    const cost =
      /zone east is Online: the names of its 1 service are gone from every other zone at once; connections to its 1 dataplane/;
    const tried = await causeway('delete', 'zone', 'east', '--force', '--dry-run');
    expect([tried.code, tried.err]).toEqual([0, expect.stringMatching(cost)]);
    expect(await zones()).toContain('east');
    const answer = await mesh.global.fetch('/zones/east?force=true', { method: 'DELETE' });
    expect([answer.status, await answer.json()]).toEqual([200, { warnings: [expect.stringMatching(cost)] }]);
    expect((await mesh.global.fetch('/meshes/default?force=true', { method: 'DELETE' })).status).toBe(400);
  });
});
