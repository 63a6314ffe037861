import { recordVersions } from '../../support/row-versions';
import type { PlaneEnvironment } from '../../support/process-plane';
import { until } from '../../support/until';
import { ChaosDatabase } from './chaos-database';
import { type ChaosServer } from './chaos-server';
import { Link } from '../../support/link';
import { ReplicaProcess } from './replica-process';
import { adminFetch } from '../../support/admin-credential';

/** Zones by name, with how many replicas each. */
const ZONES: readonly (readonly [name: string, replicas: number])[] = [
  ['east', 2],
  ['west', 1],
  ['north', 1],
];
const GLOBAL_REPLICAS = 2;
const GLOBAL = 'global';
const LEASE = { CAUSEWAY_LEADER_LEASE: '1s' };
/** Plain text and no authentication: the chaos test does not cover zone tokens. */
const OPEN = {
  CAUSEWAY_KDS_AUTH: 'none',
  CAUSEWAY_KDS_TLS: 'off',
  CAUSEWAY_KDS_BIND_ADDRESS: '127.0.0.1',
};

/**
 * A global and zones as processes of several replicas, each zone behind a link, each control plane with a database on a
 * server that is theirs alone.
 */
export class ChaosMesh {
  readonly databases = new Map<string, ChaosDatabase>();
  readonly links = new Map<string, Link>();
  readonly replicas: ReplicaProcess[] = [];

  constructor(readonly server: ChaosServer) {}

  get zones(): readonly string[] {
    return ZONES.map(([name]) => name);
  }

  /** Starts everything; every version of every row is recorded from then on. */
  async start(): Promise<void> {
    for (const name of [GLOBAL, ...this.zones]) this.databases.set(name, await ChaosDatabase.create(this.server, name));
    for (let n = 0; n < GLOBAL_REPLICAS; n++) this.add('global', GLOBAL, OPEN);
    for (const [name, replicas] of ZONES) {
      const link = new Link();
      this.links.set(name, link);
      await link.listen();
      const env = { CAUSEWAY_GLOBAL_ADDRESS: `grpc://127.0.0.1:${link.port}` };
      for (let n = 0; n < replicas; n++) this.add('zone', name, env);
    }
    await this.startReplicas();
    for (const link of this.links.values()) link.lead(this.globals[0]?.kdsPort ?? 0);
    await Promise.all(this.zones.map((zone) => this.untilJoined(zone)));
    for (const { url } of this.databases.values()) await recordVersions(url);
  }

  get globals(): readonly ReplicaProcess[] {
    return this.replicasOf(GLOBAL);
  }

  replicasOf(owner: string): readonly ReplicaProcess[] {
    return this.replicas.filter((replica) => replica.owner === owner);
  }

  /** Prints the last output of every replica to stderr. */
  tell(): void {
    for (const { owner, lastLines } of this.replicas) console.error([owner, ...lastLines].join('\n  '));
  }

  /** Ends all but the server. */
  async stop(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.end()));
    await Promise.all([...this.links.values()].map((link) => link.close()));
  }

  /** Rejects when all have started or failed, so that `stop` misses none. */
  private async startReplicas(): Promise<void> {
    const starts = await Promise.allSettled(this.replicas.map((replica) => replica.start()));
    for (const start of starts) if (start.status === 'rejected') throw start.reason;
  }

  private add(app: 'global' | 'zone', owner: string, env: PlaneEnvironment): void {
    const url = this.databases.get(owner)?.url ?? '';
    this.replicas.push(new ReplicaProcess(app, owner, { DATABASE_URL: url, ...LEASE, ...env }));
  }

  private untilJoined(zone: string): Promise<unknown> {
    const [replica] = this.replicasOf(zone);
    return until(
      `${zone} has the default mesh`,
      async () => (await adminFetch(`${replica?.restUrl}/meshes/default`)).ok,
    );
  }
}
