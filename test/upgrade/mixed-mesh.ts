import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loopbackNetwork } from '../support/loopback-networks';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import type { PlaneEnvironment } from '../support/process-plane';
import { testRedisUrl } from '../support/redis';
import { until } from '../support/until';
import type { Findings } from './findings';
import { GlobalFront } from './global-front';
import { ReplicatedPlane } from './replicated-plane';
import type { Version } from './version-tree';

export const ZONES = ['east', 'west'] as const;
export type ZoneName = (typeof ZONES)[number];

const REPLICAS = 2;
const XDS_PORT = 5_678;
const SECRETS_KEY = `test:${Buffer.alloc(32, 9).toString('base64')}`;
/** Long enough for a leader on a busy host to keep it; a replaced leader gives it back at once. */
const LEASE = '15s';
/** Third number of the addresses where control planes take proxies; those of virtual IPs are below. */
const XDS_NET = 210;
const VIP_NETS = 64;

/**
 * A global and two zones with two replicas each, every one of the old or the new version. The leaders of the global and of east are
 * decided by Redis where there is one, those of west by its database. On one loopback network, so no root is needed.
 */
export class MixedMesh {
  readonly global: ReplicatedPlane;
  readonly zones = new Map<ZoneName, ReplicatedPlane>();
  private readonly network = loopbackNetwork();
  private readonly folder = mkdtempSync(join(tmpdir(), 'causeway-upgrade-'));
  private readonly databases = new Map<string, TestDatabase>();
  private readonly front = new GlobalFront(() => this.global.ready.map(({ plane }) => plane.kdsAddress));
  private readonly tokens = new Map<ZoneName, string>();
  private machines = 0;

  private constructor(private readonly findings: Findings) {
    const env = (): PlaneEnvironment => ({ ...this.shared('global'), CAUSEWAY_KDS_BIND_ADDRESS: '127.0.0.1' });
    this.global = this.plane('global', 'global', env);
  }

  /** Starts all replicas in this version; resolves when each zone has the default mesh of the global. */
  static async start(version: Version, findings: Findings): Promise<MixedMesh> {
    const mesh = new MixedMesh(findings);
    try {
      for (const name of ['global', ...ZONES]) mesh.databases.set(name, await createTestDatabase());
      await mesh.front.listen();
      await mesh.global.startAll(version);
      writeFileSync(mesh.authorityFile, await mesh.global.any(0).text('/kds/ca'));
      await Promise.all(ZONES.map((zone) => mesh.startZone(zone, version)));
    } catch (error) {
      await mesh.stop();
      throw error;
    }
    return mesh;
  }

  get planes(): readonly ReplicatedPlane[] {
    return [this.global, ...this.zones.values()];
  }

  zone(name: ZoneName): ReplicatedPlane {
    const zone = this.zones.get(name);
    if (!zone) throw new Error(`no zone ${name}`);
    return zone;
  }

  /** The database of a control plane. */
  databaseUrl(name: string): string {
    const database = this.databases.get(name);
    if (!database) throw new Error(`no database ${name}`);
    return database.url;
  }

  /** A loopback address that nothing else has. */
  machine(): string {
    return `${this.network.prefix}.${XDS_NET + 1}.${++this.machines}`;
  }

  /** Returns the addresses where proxies of a zone connect, the same for every version of a replica. */
  xdsAddresses(zone: ZoneName): readonly string[] {
    return Array.from({ length: REPLICAS }, (_, n) => `${this.xdsHost(zone, n)}:${XDS_PORT}`);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.zones.values()].map((zone) => zone.stop()));
    await this.global.stop();
    await this.front.close();
    await Promise.all([...this.databases.values()].map((database) => database.drop()));
    rmSync(this.folder, { recursive: true, force: true });
    this.network.release();
  }

  private async startZone(name: ZoneName, version: Version): Promise<void> {
    this.tokens.set(name, await this.global.any(0).text('/tokens/zone', { zone: name, validFor: '24h' }));
    const zone = this.plane('zone', name, (n) => this.zoneSettings(name, n));
    this.zones.set(name, zone);
    await zone.startAll(version);
    await until(`zone ${name} has the default mesh`, () => zone.any(0).get('/meshes/default'));
  }

  private plane(app: 'global' | 'zone', name: string, env: (n: number) => PlaneEnvironment): ReplicatedPlane {
    return new ReplicatedPlane({ app, name, replicas: REPLICAS, findings: this.findings, env });
  }

  private shared(name: string): PlaneEnvironment {
    const redis = name === 'west' ? undefined : testRedisUrl();
    const own = { DATABASE_URL: this.databaseUrl(name), CAUSEWAY_LEADER_LEASE: LEASE };
    return { ...own, ...(redis !== undefined && { REDIS_URL: redis }) };
  }

  private zoneSettings(zone: ZoneName, n: number): PlaneEnvironment {
    const net = `${this.network.prefix}.${ZONES.indexOf(zone) * VIP_NETS}`;
    const range = (offset: number): string => net.replace(/\d+$/, (first) => String(Number(first) + offset));
    return {
      ...this.shared(zone),
      CAUSEWAY_GLOBAL_ADDRESS: `grpcs://${this.front.address}`,
      CAUSEWAY_GLOBAL_CA_FILE: this.authorityFile,
      CAUSEWAY_ZONE_TOKEN: this.tokens.get(zone) ?? '',
      CAUSEWAY_SECRETS_KEY: SECRETS_KEY,
      CAUSEWAY_XDS_BIND_ADDRESS: this.xdsHost(zone, n),
      CAUSEWAY_XDS_PORT: String(XDS_PORT),
      CAUSEWAY_VIP_RANGE_MESHSERVICE: `${net}.0/19`,
      CAUSEWAY_VIP_RANGE_MESHMULTIZONESERVICE: `${range(32)}.0/20`,
      CAUSEWAY_VIP_RANGE_MESHEXTERNALSERVICE: `${range(48)}.0/20`,
    };
  }

  private xdsHost(zone: ZoneName, n: number): string {
    return `${this.network.prefix}.${XDS_NET}.${ZONES.indexOf(zone) * REPLICAS + n + 1}`;
  }

  private get authorityFile(): string {
    return join(this.folder, 'global-ca.pem');
  }
}
