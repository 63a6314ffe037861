import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMigratedDatabase } from './migrated-database';
import { createTestDatabase, type TestDatabase } from './postgres';
import { ProcessPlane, START_TIMEOUT, type PlaneEnvironment } from './process-plane';
import { until } from './until';

/** A global and zones as processes, with zone tokens and TLS as by default, each with a database of its own on the Postgres of the test run. */
export class ProcessMesh {
  private readonly databases = new Map<string, TestDatabase>();
  /** Databases that others took the place of. */
  private readonly replaced: TestDatabase[] = [];
  private readonly zoneEnvs = new Map<string, PlaneEnvironment>();
  private readonly tokens = new Map<string, PlaneEnvironment>();
  readonly zones = new Map<string, ProcessPlane>();
  private globalPlane: ProcessPlane | undefined;
  private globalEnv: PlaneEnvironment = { CAUSEWAY_KDS_BIND_ADDRESS: '127.0.0.1' };
  private readonly folder = mkdtempSync(join(tmpdir(), 'causeway-mesh-'));

  constructor(private readonly shared: PlaneEnvironment = {}) {}

  /** Starts the global and these zones and waits until each zone has the global's default mesh. */
  static async start(zones: readonly string[], shared: PlaneEnvironment = {}): Promise<ProcessMesh> {
    const mesh = new ProcessMesh(shared);
    try {
      await mesh.startGlobal();
      await Promise.all(zones.map((zone) => mesh.startZone(zone)));
    } catch (error) {
      await mesh.stop();
      throw error;
    }
    return mesh;
  }

  get global(): ProcessPlane {
    if (!this.globalPlane) throw new Error('no global runs');
    return this.globalPlane;
  }

  zone(name: string): ProcessPlane {
    const zone = this.zones.get(name);
    if (!zone) throw new Error(`no zone ${name} runs`);
    return zone;
  }

  /** Starts the global, again with the same database, settings and KDS port when there was one before. */
  async startGlobal(own: PlaneEnvironment = {}): Promise<ProcessPlane> {
    this.globalEnv = { ...this.globalEnv, ...own };
    const env = { ...(await this.environment('global')), ...this.globalEnv };
    this.globalPlane = await ProcessPlane.start('global', 'global', env);
    this.globalEnv = { ...this.globalEnv, CAUSEWAY_KDS_PORT: this.globalPlane.kdsAddress.split(':')[1] ?? '0' };
    return this.globalPlane;
  }

  /** Starts a zone, again with the same database and settings when there was one of this name before. */
  async startZone(name: string, env: PlaneEnvironment = {}): Promise<ProcessPlane> {
    const zone = await this.bootZone(name, env);
    await until(`zone ${name} has the default mesh`, () => zone.get('/meshes/default'), START_TIMEOUT);
    return zone;
  }

  /** As `startZone`, without waiting for the global, which may be away where the zone has its credentials. */
  async bootZone(name: string, env: PlaneEnvironment = {}): Promise<ProcessPlane> {
    this.zoneEnvs.set(name, { ...this.zoneEnvs.get(name), ...env });
    const own = { ...(await this.credentials(name)), ...this.zoneEnvs.get(name) };
    const zone = await ProcessPlane.start('zone', name, { ...(await this.environment(name)), ...own });
    this.zones.set(name, zone);
    return zone;
  }

  /** Ends every process and drops every database. */
  async stop(): Promise<void> {
    const planes = [...this.zones.values(), ...(this.globalPlane ? [this.globalPlane] : [])];
    await Promise.all(planes.map((plane) => plane.stop()));
    await Promise.all([...this.databases.values(), ...this.replaced].map((database) => database.drop()));
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The database of the global or of a zone, also before its first start. */
  async databaseUrl(name: string): Promise<string> {
    const database = this.databases.get(name) ?? (await createMigratedDatabase());
    this.databases.set(name, database);
    return database.url;
  }

  /** An empty database, which the next start of the global or of a zone has in place of the one before. */
  async replaceDatabase(name: string): Promise<string> {
    const former = this.databases.get(name);
    if (former) this.replaced.push(former);
    const database = await createTestDatabase();
    this.databases.set(name, database);
    return database.url;
  }

  /** A token that a zone may join with. */
  zoneToken(zone: string): Promise<string> {
    return this.global.text('/tokens/zone', { zone, validFor: '24h' });
  }

  /** A file with the certificate that the global is verified by. */
  async authorityFile(): Promise<string> {
    const file = join(this.folder, 'ca.pem');
    writeFileSync(file, await this.global.text('/kds/ca'));
    return file;
  }

  /** Returns the global's address, the authority that verifies it, and a token; those of an earlier start while the global is away. */
  async credentials(zone: string): Promise<PlaneEnvironment> {
    const known = this.tokens.get(zone);
    if (known) return known;
    const credentials = { ...(await this.globalAddress()), CAUSEWAY_ZONE_TOKEN: await this.zoneToken(zone) };
    this.tokens.set(zone, credentials);
    return credentials;
  }

  private async globalAddress(): Promise<PlaneEnvironment> {
    const { kdsAddress } = this.global;
    if (this.globalEnv['CAUSEWAY_KDS_TLS'] === 'off') return { CAUSEWAY_GLOBAL_ADDRESS: `grpc://${kdsAddress}` };
    const CAUSEWAY_GLOBAL_CA_FILE = await this.authorityFile();
    return { CAUSEWAY_GLOBAL_ADDRESS: `grpcs://${kdsAddress}`, CAUSEWAY_GLOBAL_CA_FILE };
  }

  private async environment(name: string): Promise<PlaneEnvironment> {
    return { DATABASE_URL: await this.databaseUrl(name), ...this.shared };
  }
}

/** A Dataplane that serves one service on one port. */
export function dataplane(name: string, service: string, port = 8080): Record<string, unknown> {
  const address = `10.${randomBytes(1)[0] ?? 1}.0.1`;
  const inbound = [{ port, tags: { 'kuma.io/service': service, 'kuma.io/protocol': 'tcp' } }];
  return { type: 'Dataplane', mesh: 'default', name, spec: { networking: { address, inbound } } };
}
