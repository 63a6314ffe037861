import { Client } from 'pg';
import { until } from '../support/until';
import { FIXED, runCommandLines } from './command-lines';
import { Findings } from './findings';
import { Machines, type MachinesPlane } from './machines';
import { MixedMesh, ZONES } from './mixed-mesh';
import { NamesWatch } from './names-watch';
import type { ReplicatedPlane } from './replicated-plane';
import { TrafficOfWrites } from './traffic-of-writes';
import type { Version } from './version-tree';

/** Guarantee that a run breaks, to show that the break is found: an address that changes, an answered write that goes, a table of the old version. */
export const BREAKS = ['address', 'write', 'table'] as const;
type Break = (typeof BREAKS)[number];

export interface UpgradeRunOptions {
  readonly old: Version;
  readonly new: Version;
  /** One leg without agents, instead of all. */
  readonly isShort: boolean;
  readonly plane: MachinesPlane;
  readonly broken?: Break;
}

export interface UpgradeResult {
  readonly violations: readonly string[];
  readonly figures: Readonly<Record<string, unknown>>;
}

type Order = 'zones first' | 'global first';

const FIXED_SERVICES = 50;

/**
 * Runs a mesh of the old version and replaces its replicas one by one while services are written, names looked at and requests sent:
 * zones before the global, back to the old version on the databases that the new one has migrated, and the global before the zones.
 */
export async function runUpgrade(options: UpgradeRunOptions): Promise<UpgradeResult> {
  const findings = new Findings();
  const { old, plane } = options;
  say(`a global and the zones ${ZONES.join(' and ')}, two replicas each, of ${old.revision}`);
  const mesh = await MixedMesh.start(old, findings);
  try {
    await populate(mesh);
    const machines = options.isShort ? undefined : await Machines.start(mesh, { version: old, plane }, findings);
    try {
      await new UpgradeRun(mesh, machines, findings, options).all();
    } finally {
      await machines?.stop();
    }
  } finally {
    await mesh.stop();
  }
  return { violations: findings.violations, figures: findings.figures() };
}

class UpgradeRun {
  private readonly watches: readonly NamesWatch[];
  private readonly writes: TrafficOfWrites;

  constructor(
    private readonly mesh: MixedMesh,
    private readonly machines: Machines | undefined,
    private readonly findings: Findings,
    private readonly options: UpgradeRunOptions,
  ) {
    this.watches = ZONES.map((zone) => new NamesWatch(mesh.zone(zone), findings));
    this.writes = new TrafficOfWrites(mesh, findings);
  }

  async all(): Promise<void> {
    const { old: before, new: after, isShort, broken } = this.options;
    try {
      this.writes.start();
      await this.leg('to the new version', after, 'zones first');
      if (broken) await this.break(broken);
      if (isShort) await this.firstReplicas(before);
      else {
        await this.leg('the way back', before, 'zones first');
        await this.leg('to the new version', after, 'global first');
      }
    } finally {
      await this.writes.stop();
      for (const watch of this.watches) await watch.stop();
    }
    for (const { size } of this.watches) this.findings.count('names_and_services', size);
  }

  /** Replaces all replicas; between the two halves leaders are killed: each side starts anew beside the other version. */
  private async leg(what: string, version: Version, order: Order): Promise<void> {
    say(`${what}, ${order}`);
    const { isShort, old: before, new: after } = this.options;
    const [zones, global] = [[...this.mesh.zones.values()], [this.mesh.global]];
    const [first, second] = order === 'zones first' ? [zones, global] : [global, zones];
    await this.replaceAll(first, version);
    if (!isShort) {
      say(`  ${namesOf(first)} ${version.label}, ${namesOf(second)} not yet: leaders are killed`);
      for (const plane of [...first, ...second]) await plane.crashLeader();
    }
    await runCommandLines(this.mesh, { versions: [before, after], zones: isShort ? ['east'] : ZONES }, this.findings);
    await this.check('in mixed versions');
    await this.replaceAll(second, version);
    if (this.machines) {
      say('  agents one by one');
      await this.machines.replaceAll(version);
    }
    await this.check('after the leg');
    if (version === after) await this.machines?.checkOldCredentials();
  }

  /** The first replica of each control plane only: both versions on every database. */
  private async firstReplicas(version: Version): Promise<void> {
    say('the way back begins: both versions in every control plane');
    for (const plane of this.mesh.planes) await plane.replace(0, version);
    await this.check('in mixed control planes');
  }

  private async replaceAll(planes: readonly ReplicatedPlane[], version: Version): Promise<void> {
    for (const plane of planes)
      for (let n = 0; n < plane.size; n++) {
        await plane.replace(n, version);
        say(`  ${plane.name}: replica ${n + 1} of ${plane.size} is of the ${version.label} version`);
      }
  }

  /** Compares while nothing is written; then the writers go on. */
  private async check(when: string): Promise<void> {
    await this.writes.stopAndCheck();
    this.writes.start();
    const { violations } = this.findings;
    say(`  answered writes compared on every replica ${when}; promises broken so far: ${violations.length}`);
  }

  private async break(what: Break): Promise<void> {
    say(`  broken on purpose: ${what}`);
    const statement = {
      address: `UPDATE resources SET status = jsonb_set(status, '{vip,ip}', '"127.0.0.99"') WHERE kind = 'MeshService' AND name = '${FIXED.service}'`,
      write: `DELETE FROM resources WHERE kind = 'Dataplane' AND name = 'written-0-a'`,
      table: 'ALTER TABLE resources RENAME COLUMN spec TO content',
    }[what];
    const client = new Client({ connectionString: this.mesh.databaseUrl('east') });
    await client.connect();
    await client.query(statement);
    await client.end();
  }
}

/** Services that are there before the first replica is replaced. */
async function populate(mesh: MixedMesh): Promise<void> {
  for (const zone of ZONES)
    for (let n = 0; n < FIXED_SERVICES; n++) {
      const [name, tags] = [`fixed-${n}`, { 'kuma.io/service': `fixed-${n}`, 'kuma.io/protocol': 'tcp' }];
      const networking = { address: `10.100.${n}.1`, inbound: [{ port: 80, tags }] };
      const document = { type: 'Dataplane', mesh: 'default', name, spec: { networking } };
      const status = await mesh.zone(zone).any(n).put(`/meshes/default/dataplanes/${name}`, document);
      if (status !== 200 && status !== 201) throw new Error(`the PUT of ${name} was answered ${status}`);
    }
  for (const zone of ZONES)
    await until(`every zone knows the services of ${zone}`, async () => {
      const counts = await Promise.all(
        [...mesh.zones.values()].map(async (plane) => {
          const found = await plane.any(0).get(`/meshes/default/meshservices?zone=${zone}&size=1`);
          return Number(found?.['total'] ?? 0);
        }),
      );
      return counts.every((count) => count >= FIXED_SERVICES);
    });
}

function namesOf(planes: readonly ReplicatedPlane[]): string {
  return planes.map(({ name }) => name).join(' and ');
}

function say(line: string): void {
  console.log(line);
}
