import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Client } from 'pg';
import { runAsAdmin } from '../../ctl/run-causeway';
import type { ParsedJson } from '../../rest/rest-fixture';
import { dataplane, type ProcessMesh } from '../../support/process-mesh';
import type { ProcessPlane } from '../../support/process-plane';
import { until } from '../../support/until';
import { sharedMesh } from './shared-mesh';

const SERVICE = '/meshes/default/meshservices/api';
const BACKEND = '/meshes/default/dataplanes/web-1';

/** Leaves in a store what a newer version may: a field, as its user wrote it, and a resource of a new kind. */
const FIELD = `WITH head AS (UPDATE store_head SET revision = revision + 1 RETURNING revision)
  UPDATE resources r SET spec = spec || '{"future": {"level": 7}}', generation = generation + 1, revision = head.revision,
    origin_revision = head.revision FROM head WHERE r.kind = 'MeshService' AND r.name = 'api'`;
const RESOURCE = `WITH head AS (UPDATE store_head SET revision = revision + 1 RETURNING revision)
  INSERT INTO resources (kind, mesh, zone, namespace, name, uid, labels, spec, generation, creation_order, created_at,
    modified_at, revision, origin_revision, origin_committed_at, freed)
  SELECT 'MeshFuture', 'default', $1, '', 'f1', 'uid-f1', '{}', '{"level": 7}', 1, 0, 0, 0, revision, revision, 0, '[]'
    FROM head`;

/** The way back of an upgrade (docs/guides/upgrade.md). */
describe('what a newer version wrote, under this one', () => {
  let mesh: ProcessMesh;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'causeway-newer-'));
    mesh = sharedMesh();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function query(store: string, sql: string, values: unknown[] = []): Promise<ParsedJson[]> {
    const client = new Client({ connectionString: await mesh.databaseUrl(store) });
    await client.connect();
    try {
      return (await client.query<ParsedJson>(sql, values)).rows;
    } finally {
      await client.end();
    }
  }
  const service = (at: ProcessPlane): Promise<ParsedJson> => at.get(`${SERVICE}?zone=east`);
  const future = { level: 7 };

  it('is served as far as it is known, passed on and kept as it is, and refused to who writes it again', async () => {
    const first = mesh.zone('east');
    const selector = { dataplaneTags: { 'kuma.io/service': 'web' } };
    const spec = { selector, ports: [{ port: 80, targetPort: 8080 }] };
    expect(await first.put(BACKEND, dataplane('web-1', 'web'))).toBe(201);
    expect(await first.put(SERVICE, { type: 'MeshService', mesh: 'default', name: 'api', spec })).toBe(201);
    await until('west serves it', async () => (await service(mesh.zone('west')))?.status?.addresses?.length > 0);
    const before = (await service(first)).status;
    await first.stop();
    await query('east', FIELD);
    await query('east', RESOURCE, ['east']);
    await query('global', RESOURCE, ['']);

    const east = await mesh.startZone('east');
    await until('east serves it as before', async () => {
      const { status, spec: own } = await service(east);
      // By content: the store keeps the keys of an object in an order of its own.
      return isDeepStrictEqual([status, own.future], [before, future]);
    });
    for (const plane of [mesh.global, mesh.zone('west')]) {
      await until('it is passed on', async () => (await service(plane))?.spec.future?.level === 7);
      await until('what is not understood is told', async () =>
        JSON.stringify((await service(plane)).status.conditions ?? []).includes('spec.future is not a known field'),
      );
    }
    const doctor = await runAsAdmin(east.restUrl, ['doctor']);
    expect([doctor.code, doctor.out]).toEqual([1, expect.stringContaining('spec.future: is not a known field')]);
    expect(await east.put(SERVICE, await service(east))).toBe(422);
    expect(await mesh.global.delete('/meshes/default/meshfutures/f1')).toBe(404);

    // The leader writes the service again, with the fields that it does not know.
    expect(await east.delete(BACKEND)).toBe(200);
    await until('it is written', async () => (await service(east)).spec.state === 'Unavailable');
    expect((await service(east)).spec.future).toEqual(future);
    const backup = join(folder, 'backup');
    expect(await runAsAdmin(east.restUrl, ['export', '--output', backup])).toMatchObject({ code: 0 });
    expect(/"kind": ?"MeshFuture"/.test(await readFile(backup, 'utf8'))).toBe(true);
    for (const store of ['east', 'global'])
      expect(await query(store, `SELECT spec FROM resources WHERE kind = 'MeshFuture'`)).toEqual([{ spec: future }]);
  });
});
