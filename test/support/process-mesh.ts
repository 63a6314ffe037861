import { randomBytes } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from './postgres';
import { ProcessPlane, type PlaneEnvironment } from './process-plane';
import { until } from './until';

/** A global and zones as processes, each with a database of its own on the Postgres of the test run. */
export class ProcessMesh {
  private readonly databases = new Map<string, TestDatabase>();
  readonly zones = new Map<string, ProcessPlane>();
  private globalPlane: ProcessPlane | undefined;
  private globalEnv: PlaneEnvironment = {};

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

  /** Starts the global, again with the same database and KDS port when there was one before. */
  async startGlobal(): Promise<ProcessPlane> {
    const env = { ...(await this.environment('global')), ...this.globalEnv };
    this.globalPlane = await ProcessPlane.start('global', 'global', env);
    this.globalEnv = { CAUSEWAY_KDS_PORT: this.globalPlane.kdsAddress.split(':')[1] ?? '0' };
    return this.globalPlane;
  }

  /** Starts a zone, again with the same database when there was one of this name before. */
  async startZone(name: string, env: PlaneEnvironment = {}): Promise<ProcessPlane> {
    const own = { CAUSEWAY_GLOBAL_ADDRESS: `grpc://${this.global.kdsAddress}`, ...env };
    const zone = await ProcessPlane.start('zone', name, { ...(await this.environment(name)), ...own });
    this.zones.set(name, zone);
    await until(`zone ${name} has the default mesh`, () => zone.get('/meshes/default'));
    return zone;
  }

  /** Ends every process and drops every database. */
  async stop(): Promise<void> {
    const planes = [...this.zones.values(), ...(this.globalPlane ? [this.globalPlane] : [])];
    await Promise.all(planes.map((plane) => plane.stop()));
    await Promise.all([...this.databases.values()].map((database) => database.drop()));
  }

  private async environment(name: string): Promise<PlaneEnvironment> {
    const database = this.databases.get(name) ?? (await createTestDatabase());
    this.databases.set(name, database);
    return { DATABASE_URL: database.url, ...this.shared };
  }
}

/** A Dataplane that serves one service on one port. */
export function dataplane(name: string, service: string, port = 8080): Record<string, unknown> {
  const address = `10.${randomBytes(1)[0] ?? 1}.0.1`;
  const inbound = [{ port, tags: { 'kuma.io/service': service, 'kuma.io/protocol': 'tcp' } }];
  return { type: 'Dataplane', mesh: 'default', name, spec: { networking: { address, inbound } } };
}
