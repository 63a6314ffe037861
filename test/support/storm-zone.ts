import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from './postgres';
import { ProcessPlane, type PlaneEnvironment } from './process-plane';
import { WORKLOAD, type SimulatedZone } from './simulated-agent';
import { TestAuthority } from './test-authority';
import { until } from './until';

/**
 * A zone as a process with a database of its own, to which simulated agents come by TLS. It can be killed and started again at the same
 * port. Needs a build.
 */
export class StormZone {
  private constructor(
    private plane: ProcessPlane,
    private readonly env: PlaneEnvironment,
    private readonly place: { readonly database: TestDatabase; readonly folder: string },
    /** Address and credentials for agents. */
    readonly reached: SimulatedZone,
  ) {}

  /** Starts one in which every Dataplane has an identity. `env`: more settings. */
  static async start(env: PlaneEnvironment = {}): Promise<StormZone> {
    const { freePort } = await import('../../scripts/lib/ports.mjs');
    const database = await createTestDatabase();
    const folder = mkdtempSync(join(tmpdir(), 'causeway-storm-'));
    const authority = await TestAuthority.create('storm');
    const settings = {
      DATABASE_URL: database.url,
      CAUSEWAY_XDS_PORT: String(await freePort()),
      ...(await certificateIn(folder, authority)),
      ...env,
    };
    const plane = await ProcessPlane.start('zone', 'east', settings);
    const spec = { selector: { dataplane: { matchLabels: {} } }, provider: { type: 'Bundled' } };
    const identity = { type: 'MeshIdentity', mesh: 'default', name: 'all', spec };
    await until('the mesh', async () => (await plane.put('/meshes/default/meshidentities/all', identity)) < 300);
    const order = { mesh: 'default', workload: WORKLOAD, services: [WORKLOAD], machines: 10_000 };
    const token = await until('a token', () => plane.text('/tokens/dataplane', order).catch(() => undefined));
    const addresses = [`127.0.0.1:${settings.CAUSEWAY_XDS_PORT}`];
    return new StormZone(plane, settings, { database, folder }, { addresses, authority: authority.certificate, token });
  }

  get pid(): number {
    return this.plane.pid;
  }

  /** Ends it at once, as a crash does. */
  kill(): Promise<void> {
    return this.plane.kill();
  }

  /** Starts it again; resolves when it is ready. */
  async restart(): Promise<void> {
    this.plane = await ProcessPlane.start('zone', 'east', this.env);
  }

  async stop(): Promise<void> {
    await this.plane.stop();
    rmSync(this.place.folder, { recursive: true, force: true });
    await this.place.database.drop();
  }

  /** Returns the stored Dataplanes by name, with their creation times: a Dataplane that was withdrawn and registered again has another. */
  async dataplanes(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.rows(
      `SELECT name, created_at::text AS made FROM resources WHERE kind = 'Dataplane' AND deleted_at IS NULL`,
    );
    return new Map(rows.map(({ name, made }) => [String(name), String(made)]));
  }

  /** Leases that have not ended. */
  async leases(): Promise<number> {
    const now = 'extract(epoch FROM clock_timestamp()) * 1000';
    const [row] = await this.rows(`SELECT count(*) AS count FROM agent_leases WHERE expires_at > ${now}`);
    return Number(row?.['count']);
  }

  /** Transactions of its database so far. */
  async transactions(): Promise<number> {
    const [row] = await this.rows(
      'SELECT xact_commit AS count FROM pg_stat_database WHERE datname = current_database()',
    );
    return Number(row?.['count']);
  }

  private async rows(text: string): Promise<readonly Record<string, unknown>[]> {
    const client = new Client({ connectionString: this.place.database.url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  }
}

/** A certificate for the xDS port, in files of a folder. */
async function certificateIn(folder: string, authority: TestAuthority): Promise<PlaneEnvironment> {
  const { chain, key } = await authority.issue({ ip: '127.0.0.1' });
  const [certificateFile, keyFile] = [join(folder, 'chain.pem'), join(folder, 'key.pem')];
  writeFileSync(certificateFile, chain);
  writeFileSync(keyFile, key, { mode: 0o600 });
  return { CAUSEWAY_XDS_TLS_CERT_FILE: certificateFile, CAUSEWAY_XDS_TLS_KEY_FILE: keyFile };
}
