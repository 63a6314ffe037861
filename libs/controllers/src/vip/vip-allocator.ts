import { AddressPool, describeRange, type Allocation, type OwnedRanges, type PoolMetrics } from '@causeway/ipam';
import type { FreedAddress } from '@causeway/resources';
import type { ServiceVip } from './vip-status';

interface KindPool {
  readonly kind: string;
  readonly pool: AddressPool;
  readonly ranges: string;
}

/**
 * The pools of all kinds. An address is reserved in the pool whose range contains it, whatever kind holds it: after a
 * range moved to another kind, nothing is handed out that the former kind still uses or has just freed.
 */
export class VipAllocator {
  private readonly pools: readonly KindPool[];

  /** `cooldown` in ms. */
  constructor(owned: readonly OwnedRanges[], cooldown: number) {
    this.pools = owned.map(({ owner, ranges }) => ({
      kind: owner,
      pool: new AddressPool(ranges, cooldown),
      ranges: ranges.map(describeRange).join(', '),
    }));
  }

  /** Reserves what a service holds and notes what it has freed. True when it needs no new address. */
  reserve(kind: string, key: string, held: ServiceVip | undefined, freed: readonly FreedAddress[]): boolean {
    this.markFreed(key, freed);
    if (held?.type === 'Kubernetes') {
      for (const { pool } of this.pools) {
        pool.release(key);
        pool.block(held.ip);
      }
      return true;
    }
    // Without an address in the row, the service keeps what the pool has allocated to it.
    if (!held) return false;
    const answers = this.pools.map(({ kind: other, pool }) => [other, pool.reserve(key, held.ip)] as const);
    return answers.some(([other, answer]) => other === kind && answer === 'held');
  }

  /** True when this service holds `ip`, of its kind's ranges, and nothing else. */
  isReserved(kind: string, key: string, ip: string): boolean {
    return this.pools.every(({ kind: other, pool }) => pool.holds(key, other === kind ? ip : undefined));
  }

  /** Notes that a service was deleted, and what it freed. */
  release(key: string, freed: readonly FreedAddress[]): void {
    for (const { pool } of this.pools) pool.release(key);
    this.markFreed(key, freed);
  }

  /** Notes that an unknown holder has `ip`, which was allocated to `key`. */
  block(key: string, ip: string): void {
    for (const { pool } of this.pools) {
      pool.release(key);
      pool.block(ip);
    }
  }

  /** Allocates an address of the kind's ranges; `storeNow` by the store's clock. */
  allocate(kind: string, key: string, storeNow: number): Allocation {
    return this.poolOf(kind)?.pool.allocate(key, storeNow) ?? { ok: false };
  }

  /** Whether services of this kind get addresses here. */
  has(kind: string): boolean {
    return this.poolOf(kind) !== undefined;
  }

  /** The ranges of a kind as text. */
  rangesOf(kind: string): string {
    return this.poolOf(kind)?.ranges ?? '';
  }

  /** Continues after these addresses; for a kind without one, after the highest address that is held or was freed. */
  moveCursors(cursors: ReadonlyMap<string, string>): void {
    for (const { kind, pool } of this.pools) {
      const cursor = cursors.get(kind);
      if (cursor !== undefined && pool.contains(cursor)) pool.moveCursor(cursor);
      else pool.moveCursorToHighest();
    }
  }

  /** The address last handed out in sequence, by kind. */
  get cursors(): ReadonlyMap<string, string> {
    return new Map(this.pools.flatMap(({ kind, pool }) => (pool.cursor === undefined ? [] : [[kind, pool.cursor]])));
  }

  /** A counter that grows whenever an address is released. */
  get releases(): number {
    return this.pools.reduce((sum, { pool }) => sum + pool.releases, 0);
  }

  get metrics(): Readonly<Record<string, PoolMetrics>> {
    return Object.fromEntries(this.pools.map(({ kind, pool }) => [kind, pool.metrics]));
  }

  private markFreed(key: string, freed: readonly FreedAddress[]): void {
    for (const { ip, at } of freed) for (const { pool } of this.pools) pool.markFreed(key, ip, at);
  }

  private poolOf(kind: string): KindPool | undefined {
    return this.pools.find((pool) => pool.kind === kind);
  }
}
