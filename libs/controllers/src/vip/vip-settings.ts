import { planRanges, withoutAll, type OwnedRanges } from '@causeway/ipam';
import type { Meshes, MeshState } from '@causeway/meshes';
import { durationMs } from '@causeway/resources';

/** Configuration of virtual IPs. */
export interface VipSettingsConfig {
  /** The ranges of each kind of service, as `planRanges` returns them. */
  readonly ranges: readonly OwnedRanges[];
  /** The time for which a freed address is given to no other service, ms. */
  readonly cooldown: number;
  /** Meshes with their own parameters; without it every mesh uses the zone's ranges and is served. */
  readonly meshes?: Meshes;
  /** The minimum `vipCooldown` of a mesh, ms; lower values are raised to it, because resolvers keep addresses for the TTL of DNS. */
  readonly leastCooldown?: number;
}

/** The settings of addresses for services of one mesh. */
export interface MeshVipSettings {
  /** False for a Mesh of another controller: its services get no address (row T000-07). */
  readonly isServed: boolean;
  /**
   * Whether services keep an address outside the ranges from which they would get one: their Mesh is rejected (row T000-35), foreign or missing, so
   * its ranges are unknown or provisional.
   */
  readonly keepsAddresses: boolean;
  /** The cooldown of addresses that its services free, ms. */
  readonly cooldown: number;
}

/** The ranges of one kind: of one mesh or, without `mesh`, of all meshes without their own ranges for this kind. */
export interface PoolRanges extends OwnedRanges {
  readonly mesh?: string;
}

/** A `vipCooldown` that was raised. */
export interface RaisedCooldown {
  readonly mesh: string;
  readonly wanted: string;
  readonly least: number;
}

/** The settings of all meshes at one moment; immutable. */
export class VipSettings {
  private constructor(
    /** Disjoint. */
    readonly pools: readonly PoolRanges[],
    readonly raised: readonly RaisedCooldown[],
    private readonly byMesh: ReadonlyMap<string, MeshVipSettings>,
    private readonly missing: MeshVipSettings,
  ) {}

  /** Reads the settings of all meshes. Linear in the number of meshes. */
  static of({ ranges, cooldown, meshes, leastCooldown = 0 }: VipSettingsConfig): VipSettings {
    const states = [...(meshes?.all() ?? [])];
    const own = states.flatMap(ownPools);
    const holes = own.flatMap((pool) => pool.ranges);
    const shared = ranges.map((owned) => ({ ...owned, ranges: withoutAll(owned.ranges, holes) }));
    const raised: RaisedCooldown[] = [];
    const byMesh = states.map((state): [string, MeshVipSettings] => {
      const { name, parameters, claim, fault } = state;
      const wanted = parameters.vipCooldown;
      const given = wanted === undefined ? cooldown : (durationMs(wanted) ?? cooldown);
      if (wanted !== undefined && given < leastCooldown) raised.push({ mesh: name, wanted, least: leastCooldown });
      const isServed = claim !== 'foreign';
      const keepsAddresses = !isServed || fault !== undefined;
      return [name, { isServed, keepsAddresses, cooldown: Math.max(given, wanted === undefined ? 0 : leastCooldown) }];
    });
    const missing = { isServed: true, keepsAddresses: meshes !== undefined, cooldown };
    return new VipSettings([...shared, ...own], raised, new Map(byMesh), missing);
  }

  /** Returns the settings of a mesh; those of a missing Mesh if there is none of this name. */
  ofMesh(mesh: string): MeshVipSettings {
    return this.byMesh.get(mesh) ?? this.missing;
  }

  /** Reports whether the pools would be the same: the same ranges and cooldowns. */
  hasSamePools(other: VipSettings): boolean {
    return this.poolsText() === other.poolsText();
  }

  private poolsText(): string {
    const cooldowns = [...this.byMesh].filter(([, { cooldown }]) => cooldown !== this.missing.cooldown);
    const ranges = this.pools.map(({ mesh, owner, ranges: own }) => [
      mesh,
      owner,
      own.map(({ first, last }) => [`${first}`, `${last}`]),
    ]);
    return JSON.stringify([ranges, cooldowns.map(([mesh, { cooldown }]) => [mesh, cooldown])]);
  }
}

/** Returns the ranges in the parameters of a mesh; ranges of different kinds in one mesh may overlap. */
function ownPools({ name, parameters }: MeshState): readonly PoolRanges[] {
  const settings = Object.entries(parameters.vipRanges ?? {}).map(([owner, range]) => ({ owner, range }));
  // Public ranges were already checked when the parameters were accepted.
  const plan = planRanges(settings, { force: true });
  return plan.ok ? plan.owned.map((owned) => ({ ...owned, mesh: name })) : [];
}
