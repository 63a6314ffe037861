import { Client } from 'pg';
import { version } from '../../package.json';
import { createMigratedDatabase } from '../support/migrated-database';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
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
    database = await createMigratedDatabase();
  });
  afterEach(async () => {
    await Promise.all(planes.splice(0).map((plane) => plane.stop()));
    await database.drop();
  });

  it('T000-13 T000-15 T000-18 two replicas make one, and a restart leaves it byte by byte', async () => {
    await database.drop();
    database = await createTestDatabase(); // an empty one: both begin by migrating it
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
