import {
  AddressPool,
  describeRange,
  parseAddress,
  RangeIndex,
  type Allocation,
  type AllocationMoment,
  type PoolMetrics,
} from '@causeway/ipam';
import type { Identity, Resource, Tombstone, ResourceKey } from '@causeway/resources';
import type { MeshVipSettings, PoolRanges } from './vip-settings';
import type { ServiceVip } from './vip-status';

/** The identity of a service in the pools. */
export interface VipOwner {
  /** The index key. */
  readonly key: ResourceKey;
  readonly id: Pick<Identity, 'kind' | 'mesh'>;
  readonly settings: MeshVipSettings;
}

/** A row or tombstone that lists the addresses that its owner freed. */
type FreeingRow = Pick<Resource | Tombstone, 'freed' | 'revision'>;

/** The usage of the ranges of one kind; of one mesh if it has its own ranges. */
export interface PoolReport extends PoolMetrics {
  readonly kind: string;
  readonly mesh?: string;
}

interface NamedPool {
  readonly kind: string;
  readonly mesh: string | undefined;
  /** The key of the metadata entry with its cursor. */
  readonly key: string;
  readonly pool: AddressPool;
  readonly ranges: string;
}

/**
 * The pools of all kinds and meshes. An address is reserved in the pool whose range contains it, whoever holds it: after a range moved to another
 * kind or mesh, no address is allocated that a former owner still uses or has recently freed.
 */
export class VipAllocator {
  private readonly pools: readonly NamedPool[];
  private readonly byRange: RangeIndex<NamedPool>;
  private readonly shared = new Map<string, NamedPool>();
  private readonly byMesh = new Map<string, Map<string, NamedPool>>();
  /** Services whose row has an address outside their own pool, with the pool that contains it. */
  private readonly strays = new Map<ResourceKey, NamedPool | undefined>();
  /** The kinds that get addresses, in some mesh. */
  readonly kinds: ReadonlySet<string>;

  /** `cooldown` in ms: for addresses whose former owner is unknown. */
  constructor(plan: readonly PoolRanges[], cooldown: number) {
    this.pools = plan.map(({ owner: kind, mesh, ranges }) => ({
      kind,
      mesh,
      key: mesh === undefined ? kind : `${kind}@${mesh}`,
      pool: new AddressPool(ranges, cooldown),
      ranges: ranges.map(describeRange).join(', '),
    }));
    this.byRange = new RangeIndex(
      plan.flatMap(({ ranges }, i) => {
        const value = this.pools[i];
        return value ? ranges.map((range) => ({ ...range, value })) : [];
      }),
    );
    for (const pool of this.pools) {
      const pools =
        pool.mesh === undefined ? this.shared : (this.byMesh.get(pool.mesh) ?? new Map<string, NamedPool>());
      if (pool.mesh !== undefined) this.byMesh.set(pool.mesh, pools);
      pools.set(pool.kind, pool);
    }
    this.kinds = new Set(plan.map(({ owner }) => owner));
  }

  /** Reserves the address of a service and records the freed addresses of its row. Returns whether it needs no new address. */
  reserve(owner: VipOwner, held: ServiceVip | undefined, row: FreeingRow): boolean {
    this.markFreed(owner, row);
    if (held?.type === 'Kubernetes') {
      this.block(owner, held.ip);
      return true;
    }
    // Without an address in the row, the service keeps what the pool has allocated to it.
    if (!held) return false;
    const { key } = owner;
    const [own, at] = [this.findPool(owner.id), this.poolAt(held.ip)];
    if (this.strays.get(key) !== at) this.releaseStray(key);
    if (own && at === own) {
      this.strays.delete(key);
      return own.pool.reserve(key, held.ip) === 'held';
    }
    own?.pool.release(key);
    this.strays.delete(key);
    if (at?.pool.reserve(key, held.ip) === 'taken') return false;
    this.strays.set(key, at);
    return owner.settings.keepsAddresses;
  }

  /** Reports whether this service holds exactly `ip`, from its own ranges. */
  isReserved({ key, id }: VipOwner, ip: string): boolean {
    return this.findPool(id)?.pool.holds(key, ip) === true && !this.strays.has(key);
  }

  /** Services with an address outside the ranges from which they would get one now. */
  get strayKeys(): Iterable<ResourceKey> {
    return this.strays.keys();
  }

  /** Records that a service was deleted, and the freed addresses in its tombstone. */
  release(owner: VipOwner, row: FreeingRow | undefined): void {
    this.forget(owner);
    if (row) this.markFreed(owner, row);
  }

  /** Records that an unknown holder has `ip`, which was allocated to the service or is in its status. */
  block(owner: VipOwner, ip: string): void {
    this.forget(owner);
    this.poolAt(ip)?.pool.block(ip);
  }

  /** Allocates an address to a service. */
  allocate({ key, id }: VipOwner, moment: AllocationMoment): Allocation {
    return this.findPool(id)?.pool.allocate(key, moment) ?? { ok: false };
  }

  /** Reports whether services of this kind and mesh get addresses here. */
  has(id: VipOwner['id']): boolean {
    return this.findPool(id) !== undefined;
  }

  /** Returns the ranges of a kind and mesh as text. */
  getRanges(id: VipOwner['id']): string {
    return this.findPool(id)?.ranges ?? '';
  }

  /** Continues after these addresses; a pool without one continues after its highest address that is held or was freed. */
  moveCursors(cursors: ReadonlyMap<string, string>): void {
    for (const { key, pool } of this.pools) {
      const cursor = cursors.get(key);
      if (cursor !== undefined && pool.contains(cursor)) pool.moveCursor(cursor);
      else pool.moveCursorToHighest();
    }
  }

  /** The last address that each pool allocated in sequence. */
  get cursors(): ReadonlyMap<string, string> {
    return new Map(this.pools.flatMap(({ key, pool }) => (pool.cursor === undefined ? [] : [[key, pool.cursor]])));
  }

  /** A counter that grows whenever an address is released. */
  get releases(): number {
    return this.pools.reduce((sum, { pool }) => sum + pool.releases, 0);
  }

  reportsAt(now: number): readonly PoolReport[] {
    return this.pools.map(({ kind, mesh, pool }) => ({
      kind,
      ...(mesh === undefined ? {} : { mesh }),
      ...pool.metricsAt(now),
    }));
  }

  private markFreed({ key, settings: { cooldown } }: VipOwner, { freed, revision }: FreeingRow): void {
    for (const { ip, at } of freed) this.poolAt(ip)?.pool.markFreed(key, ip, { at, revision, cooldown });
  }

  private forget({ key, id }: VipOwner): void {
    this.findPool(id)?.pool.release(key);
    this.releaseStray(key);
  }

  private releaseStray(key: ResourceKey): void {
    this.strays.get(key)?.pool.release(key);
    this.strays.delete(key);
  }

  private findPool({ kind, mesh }: VipOwner['id']): NamedPool | undefined {
    return this.byMesh.get(mesh)?.get(kind) ?? this.shared.get(kind);
  }

  private poolAt(ip: string): NamedPool | undefined {
    const address = parseAddress(ip);
    return address && this.byRange.find(address)?.value;
  }
}
