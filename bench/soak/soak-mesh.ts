import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReplicaProcess } from '../../test/chaos/sync/replica-process';
import { Link } from '../../test/support/link';
import { createTestDatabase, type TestDatabase } from '../../test/support/postgres';
import type { PlaneEnvironment } from '../../test/support/process-plane';
import { testRedisUrl } from '../../test/support/redis';
import { until } from '../../test/support/until';
import { fill } from '../support/fill';

/** The zones of a soak. Services are made in both; what one makes must arrive in the other. */
export const ZONES = ['east', 'west'] as const;
export const OWNERS = ['global', ...ZONES] as const;
/** A control plane of a soak. */
export type Owner = (typeof OWNERS)[number];

const REPLICAS = 2;

/** A global and two zones of two replicas each, as processes, with Postgres, Redis, zone tokens and TLS; each zone's way to the global is a link. */
export class SoakMesh {
  readonly databases = new Map<Owner, TestDatabase>();
  readonly replicas: ReplicaProcess[] = [];
  readonly links = new Map<Owner, Link>();
  private readonly folder = mkdtempSync(join(tmpdir(), 'causeway-soak-'));

  /** Starts all; each zone begins with so many services of one Dataplane each. `shared` is settings of every control plane, `zoneSettings` of the zones. */
  async start(services: number, shared: PlaneEnvironment, zoneSettings: PlaneEnvironment): Promise<void> {
    for (const owner of OWNERS) this.databases.set(owner, await createTestDatabase());
    for (const zone of ZONES) await fill(this.url(zone), { zone, services });
    const redis = testRedisUrl();
    const env = { ...shared, ...(redis === undefined ? {} : { REDIS_URL: redis }) };
    await this.startReplicas('global', { ...env, CAUSEWAY_KDS_BIND_ADDRESS: '127.0.0.1' });
    for (const [n, zone] of ZONES.entries()) {
      const link = new Link();
      this.links.set(zone, link);
      await link.listen();
      this.leadLink(zone, n);
      await this.startReplicas('zone', { ...env, ...zoneSettings, ...(await this.credentials(zone, link.port)) }, zone);
    }
  }

  url(owner: Owner): string {
    return this.databases.get(owner)?.url ?? '';
  }

  of(owner: Owner): readonly ReplicaProcess[] {
    return this.replicas.filter((replica) => replica.owner === owner);
  }

  /** A replica that answers; undefined while none does. */
  up(owner: Owner): ReplicaProcess | undefined {
    return this.of(owner).find(({ down }) => !down);
  }

  /** Leads a zone's link to the n-th replica of the global, or to another that runs, as a load balancer does. */
  leadLink(zone: Owner, n: number): void {
    const globals = this.of('global');
    const wanted = globals[n % globals.length];
    const target = wanted?.down === false ? wanted : this.up('global');
    this.links.get(zone)?.lead(target?.kdsPort ?? 0);
  }

  /** Returns the reasons of processes that ended without being ended by this program. */
  get falls(): readonly string[] {
    return this.replicas.flatMap(({ falls }) => falls);
  }

  async stop(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.end()));
    await Promise.all([...this.links.values()].map((link) => link.close()));
    await Promise.all([...this.databases.values()].map((database) => database.drop()));
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async startReplicas(app: 'global' | 'zone', env: PlaneEnvironment, owner: Owner = 'global'): Promise<void> {
    for (let n = 0; n < REPLICAS; n++) {
      const replica = new ReplicaProcess(app, owner, { DATABASE_URL: this.url(owner), ...env });
      this.replicas.push(replica);
      await replica.start();
    }
    await until(`${owner} has the default mesh`, () => this.up(owner)?.plane?.get('/meshes/default'));
  }

  private async credentials(zone: Owner, port: number): Promise<PlaneEnvironment> {
    const plane = this.up('global')?.plane;
    if (!plane) throw new Error('no global runs');
    const authority = join(this.folder, 'ca.pem');
    writeFileSync(authority, await plane.text('/kds/ca'));
    return {
      CAUSEWAY_GLOBAL_ADDRESS: `grpcs://127.0.0.1:${port}`,
      CAUSEWAY_GLOBAL_CA_FILE: authority,
      CAUSEWAY_ZONE_TOKEN: await plane.text('/tokens/zone', { zone, validFor: '24h' }),
    };
  }
}
