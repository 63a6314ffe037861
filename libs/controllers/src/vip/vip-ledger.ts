import { AddressPool, describeRange, type Allocation, type OwnedRanges, type PoolFigures } from '@causeway/ipam';
import type { FreedAddress } from '@causeway/resources';
import type { HeldAddress } from './held-address';

interface Account {
  readonly kind: string;
  readonly pool: AddressPool;
  readonly ranges: string;
}

/**
 * The pools of all kinds together. Every address is booked in the pool whose range has it, whatever kind holds it: a
 * range that changed hands gives out nothing that its former kind still uses or has just freed.
 */
export class VipLedger {
  private readonly accounts: readonly Account[];

  /** `rest` in ms. */
  constructor(owned: readonly OwnedRanges[], rest: number) {
    this.accounts = owned.map(({ owner, ranges }) => ({
      kind: owner,
      pool: new AddressPool(ranges, rest),
      ranges: ranges.map(describeRange).join(', '),
    }));
  }

  /** Books what a living service holds and has freed. True when it needs no (other) address. */
  book(kind: string, key: string, held: HeldAddress | undefined, freed: readonly FreedAddress[]): boolean {
    this.bookFreed(key, freed);
    if (held?.type === 'Kubernetes') {
      for (const { pool } of this.accounts) {
        pool.drop(key);
        pool.block(held.ip);
      }
      return true;
    }
    // Without an address in the row, what the pool has promised this service stays promised.
    if (!held) return false;
    const answers = this.accounts.map(({ kind: other, pool }) => [other, pool.adopt(key, held.ip)] as const);
    return answers.some(([other, answer]) => other === kind && answer === 'held');
  }

  /** Whether it is booked that this service holds `ip`, of its kind's ranges, and nothing else. */
  knows(kind: string, key: string, ip: string): boolean {
    return this.accounts.every(({ kind: other, pool }) => pool.holds(key, other === kind ? ip : undefined));
  }

  /** Books that a service is gone, and what it freed. */
  bookGone(key: string, freed: readonly FreedAddress[]): void {
    for (const { pool } of this.accounts) pool.drop(key);
    this.bookFreed(key, freed);
  }

  /** Books that somebody unknown has `ip`, which `key` was promised. */
  bookTaken(key: string, ip: string): void {
    for (const { pool } of this.accounts) {
      pool.drop(key);
      pool.block(ip);
    }
  }

  /** An address of the kind's ranges; `storeNow` by the store's clock. */
  allocate(kind: string, key: string, storeNow: number): Allocation {
    return this.account(kind)?.pool.allocate(key, storeNow) ?? { ok: false };
  }

  /** Whether services of this kind get addresses here. */
  has(kind: string): boolean {
    return this.account(kind) !== undefined;
  }

  /** The kind's ranges, for people. */
  rangesOf(kind: string): string {
    return this.account(kind)?.ranges ?? '';
  }

  /** Goes on after these addresses; where one is not known, after the highest that was ever used. */
  moveCursors(cursors: ReadonlyMap<string, string>): void {
    for (const { kind, pool } of this.accounts) {
      const cursor = cursors.get(kind);
      if (cursor !== undefined && pool.has(cursor)) pool.moveCursor(cursor);
      else pool.moveCursorToHighest();
    }
  }

  /** The address last handed out in sequence, by kind. */
  get cursors(): ReadonlyMap<string, string> {
    return new Map(this.accounts.flatMap(({ kind, pool }) => (pool.cursor === undefined ? [] : [[kind, pool.cursor]])));
  }

  /** Grows whenever an address is let go. */
  get released(): number {
    return this.accounts.reduce((sum, { pool }) => sum + pool.released, 0);
  }

  get figures(): Readonly<Record<string, PoolFigures>> {
    return Object.fromEntries(this.accounts.map(({ kind, pool }) => [kind, pool.figures]));
  }

  private bookFreed(key: string, freed: readonly FreedAddress[]): void {
    for (const { ip, at } of freed) for (const { pool } of this.accounts) pool.free(key, ip, at);
  }

  private account(kind: string): Account | undefined {
    return this.accounts.find((account) => account.kind === kind);
  }
}
