import { planRanges, withoutAll, type OwnedRanges } from '@causeway/ipam';
import type { Meshes, MeshState } from '@causeway/meshes';
import { durationMs } from '@causeway/resources';

/** Where the settings of virtual IPs come from. */
export interface VipSettingsConfig {
  /** The ranges of each kind of service, as `planRanges` returns them. */
  readonly ranges: readonly OwnedRanges[];
  /** How long a freed address stays unused before another service may get it, ms. */
  readonly cooldown: number;
  /** Meshes with their own parameters; without it every mesh uses the zone's ranges and is served. */
  readonly meshes?: Meshes;
  /** A mesh's `vipCooldown` below it is raised to it, ms: resolvers keep addresses for the TTL of DNS. */
  readonly leastCooldown?: number;
}

/** How services of one mesh get addresses. */
export interface MeshVipSettings {
  /** False for a Mesh of somebody else: its services get no address (row T000-07). */
  readonly isServed: boolean;
  /**
   * Services keep an address outside the ranges from which they would get one: their Mesh is rejected (row T000-35), foreign
   * or missing, so its ranges are not known, or not for good.
   */
  readonly keepsAddresses: boolean;
  /** Of addresses that its services free, ms. */
  readonly cooldown: number;
}

/** The ranges of one kind, of one mesh or, without `mesh`, of all meshes that have none for this kind. */
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

  /** Linear in the number of meshes. */
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

  /** The settings of a mesh; those of a missing one where there is none of this name. */
  ofMesh(mesh: string): MeshVipSettings {
    return this.byMesh.get(mesh) ?? this.missing;
  }

  /** Whether the pools would be the same: the same ranges, and the same cooldowns. */
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

/** The ranges that the parameters of a mesh give; the kinds' ranges of one mesh may lie in each other. */
function ownPools({ name, parameters }: MeshState): readonly PoolRanges[] {
  const settings = Object.entries(parameters.vipRanges ?? {}).map(([owner, range]) => ({ owner, range }));
  // Whether a range is public was judged where the parameters were taken.
  const plan = planRanges(settings, { force: true });
  return plan.ok ? plan.owned.map((owned) => ({ ...owned, mesh: name })) : [];
}
