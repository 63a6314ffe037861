import { Client } from 'pg';
import { version } from '../../package.json';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { dataplane, ProcessMesh } from '../support/process-mesh';
import { ProcessPlane, type PlaneEnvironment } from '../support/process-plane';
import { until } from '../support/until';

const OURS = 'causeway.io/control-plane';

interface MeshBody {
  readonly uid: string;
  readonly generation: number;
  readonly spec: Record<string, unknown>;
  readonly status?: {
    readonly conditions?: readonly Record<string, unknown>[];
    readonly supportedFeatures?: unknown;
  };
}

/** Asks the database itself. */
async function query(database: TestDatabase, statement: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

/** The Mesh as its store has it. */
async function storedMesh(database: TestDatabase, name = 'default'): Promise<Record<string, unknown> | undefined> {
  const rows = await query(
    database,
    `SELECT to_jsonb(r) AS row FROM resources r WHERE kind = 'Mesh' AND name = '${name}' AND deleted_at IS NULL`,
  );
  return rows[0];
}

const accepted = async (plane: ProcessPlane, name = 'default'): Promise<Record<string, unknown> | undefined> => {
  const body = (await plane.get(`/meshes/${name}`)) as MeshBody | undefined;
  return body?.status?.conditions?.find(({ type, status }) => type === 'Accepted' && status !== 'Unknown');
};

const diagnostics = async (plane: ProcessPlane, path: string): Promise<string> =>
  (await fetch(plane.diagnosticsUrl + path)).text();

const leads = async (plane: ProcessPlane): Promise<boolean> =>
  /^causeway_leader 1$/m.test(await diagnostics(plane, '/metrics'));

describe('the Mesh of a global', () => {
  let database: TestDatabase;
  const planes: ProcessPlane[] = [];
  const start = async (env: PlaneEnvironment = {}): Promise<ProcessPlane> => {
    const base = { DATABASE_URL: database.url, CAUSEWAY_KDS_BIND_ADDRESS: '127.0.0.1' };
    const plane = await ProcessPlane.start('global', 'global', { ...base, ...env });
    planes.push(plane);
    return plane;
  };

  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await Promise.all(planes.splice(0).map((plane) => plane.stop()));
    await database.drop();
  });

  it('T000-13 T000-15 T000-18 two replicas make one, and a restart leaves it byte by byte', async () => {
    const [a, b] = await Promise.all([start(), start()]);
    const message = `Mesh resource accepted by Causeway v${version} (global control plane "global", cluster `;
    const first = await until('it is accepted', () => accepted(a));
    expect(first).toMatchObject({ status: 'True', reason: 'Accepted', observedGeneration: 1 });
    expect(first['message']).toContain(message);
    const { total } = (await b.get('/meshes')) ?? {};
    expect(total).toBe(1);
    const before = await storedMesh(database);
    expect(before).toMatchObject({ row: { spec: { controllerName: OURS }, generation: 1 } });
    // Another replica leads: neither spec nor status moves (T000-10).
    await Promise.all([a.stop(), b.stop()]);
    const next = await start();
    await until('it leads', () => leads(next));
    await until('it is accepted', () => accepted(next));
    expect(await storedMesh(database)).toEqual(before);
  });

  it("T000-05 T000-14 T000-20 has the configured names, and where it is somebody else's, all ways tell", async () => {
    const theirs = await start({ CAUSEWAY_MESH_NAME: 'shop', CAUSEWAY_MESH_CONTROLLER_NAME: 'x.io/y' });
    await until('it is accepted', () => accepted(theirs, 'shop'));
    expect(await storedMesh(database, 'shop')).toMatchObject({ row: { spec: { controllerName: 'x.io/y' } } });
    expect(await theirs.get('/meshes/default')).toBeUndefined();
    await theirs.stop();

    const before = await storedMesh(database, 'shop');
    const ours = await start({ CAUSEWAY_MESH_NAME: 'shop' });
    const words = /"shop" has the controller "x\.io\/y", this is "causeway\.io\/control-plane"/;
    await until('it leads', () => leads(ours));
    expect(await diagnostics(ours, '/ready')).toMatch(words);
    expect(await diagnostics(ours, '/metrics')).toMatch(/^causeway_mesh_controller_mismatch 1$/m);
    expect(JSON.stringify(await ours.get('/_doctor'))).toContain('has the controller');
    await until('it is in the log', () =>
      Promise.resolve(ours.lastLines.some((line) => line.includes('x.io/y') && line.includes(OURS))),
    );
    expect(await storedMesh(database, 'shop')).toEqual(before);
    // It goes with the Mesh, without a restart.
    expect(await ours.delete('/meshes/shop')).toBe(200);
    await until('it is gone', async () => !words.test(await diagnostics(ours, '/ready')));
    expect(await diagnostics(ours, '/metrics')).toMatch(/^causeway_mesh_controller_mismatch 0$/m);
    expect(await storedMesh(database, 'shop')).toBeUndefined();
  });

  it('T000-21 is not made where the store refuses it: the program runs, warns, and serves the mesh', async () => {
    await (await start()).stop();
    await query(database, `DELETE FROM resources WHERE kind = 'Mesh'`);
    await query(
      database,
      `CREATE FUNCTION no_mesh() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN IF NEW.kind = 'Mesh' THEN RAISE EXCEPTION 'no Mesh here'; END IF; RETURN NEW; END $$`,
    );
    await query(database, 'CREATE TRIGGER no_mesh BEFORE INSERT ON resources FOR EACH ROW EXECUTE FUNCTION no_mesh()');
    const plane = await start();
    await until('it warns', () =>
      Promise.resolve(plane.lastLines.some((line) => line.includes('the expected Mesh could not be created'))),
    );
    expect(await plane.get('/meshes/default')).toBeUndefined();
    expect(await plane.get('/meshes/default/meshservices')).toMatchObject({ total: 0 });
    const service = {
      type: 'MeshMultiZoneService',
      name: 's',
      spec: { selector: { meshService: { matchLabels: { app: 'x' } } }, ports: [{ port: 80 }] },
    };
    expect(await plane.put('/meshes/default/meshmultizoneservices/s', service)).toBe(201);
  });
});

describe('a zone whose global is away', () => {
  let mesh: ProcessMesh;
  beforeAll(async () => {
    mesh = await ProcessMesh.start([]);
  });
  afterAll(() => mesh.stop());

  it('T000-22 T000-42 serves its services from the start, and takes over the Mesh of the global once that is back', async () => {
    await mesh.credentials('east');
    await until('the global has its Mesh', () => accepted(mesh.global));
    await mesh.global.kill();
    const east = await mesh.bootZone('east');
    expect(await east.put('/meshes/default/dataplanes/redis-1', dataplane('redis-1', 'redis'))).toBe(201);
    const path = '/meshes/default/meshservices/redis';
    const complete = async (): Promise<Record<string, unknown> | undefined> => {
      const body = await east.get(path);
      const text = JSON.stringify(body?.['status'] ?? {});
      return text.includes('"ip":"241.') && text.includes('"hostname":"redis.svc.mesh.local"') ? body : undefined;
    };
    const before = await until('redis has an address and a name', complete);
    expect(await east.get('/meshes')).toMatchObject({ total: 0 });
    expect(await east.get('/meshes/default')).toBeUndefined();

    const global = await mesh.startGlobal();
    const copy = (await until('the Mesh came', () => east.get('/meshes/default'))) as unknown as MeshBody;
    const own = (await global.get('/meshes/default')) as unknown as MeshBody;
    expect([copy.uid, copy.spec]).toEqual([own.uid, own.spec]);
    expect(await east.get('/meshes')).toMatchObject({ total: 1 });
    await until('the zone accepts it', async () =>
      String((await accepted(east))?.['message']).includes('zone control plane "east"'),
    );
    await until('redis is at the global', () => global.get(`${path}?zone=east`));
    expect((await complete())?.['status']).toMatchObject({ vip: (before['status'] as { vip: unknown }).vip });
  });
});
