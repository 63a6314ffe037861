import { AddressSpace, type AddressRange } from './range';
import { CooldownQueue, type CoolingAddress } from './cooldown-queue';
import { AllocationBitmap } from './allocation-bitmap';

/**
 * Result of `allocate`. `retryAt`: end of the next cooldown, absent if no address is cooling. `heldAt`: revision of the
 * log that proxies must reach first, because some may still use an address, past its cooldown, for its former owner.
 */
export type Allocation =
  | { readonly ok: true; readonly ip: string }
  | { readonly ok: false; readonly retryAt?: number; readonly heldAt?: number };

/** Time of an allocation. */
export interface AllocationMoment {
  /** ms of the store's clock. */
  readonly now: number;
  /** Addresses freed after this revision of the log may still be in use for their former owner; unlimited unless given. */
  readonly floor?: number;
}

/** Usage of a pool; `cooling` counts the addresses that only their former owners may get. */
export interface PoolMetrics {
  readonly size: bigint;
  readonly used: number;
  readonly cooling: number;
}

interface FreedBy {
  readonly owner: string;
  readonly at: number;
  /** End of the cooldown. */
  readonly until: number;
  /** Revision of the log by which it was free. */
  readonly revision: number;
}

/** Circumstances of freeing an address. */
export interface Freeing {
  /** Time by the store's clock, ms. */
  readonly at: number;
  /** Revision of the log by which it was free; 0 unless given. */
  readonly revision?: number;
  /** Cooldown, ms; that of the pool unless given. */
  readonly cooldown?: number;
}

/**
 * The addresses of some ranges and their owners (docs/design.md §4 vip). An owner holds at most one address of the
 * pool, an address has at most one owner. `allocate` tries, in this order: the address that the owner holds; the one
 * that it freed last, if it is free; the next address after the cursor that is neither held nor freed, wrapping round;
 * the address whose cooldown ends first, if it has ended. Costs do not depend on the size of the ranges. Deterministic.
 */
export class AddressPool {
  private readonly space: AddressSpace;
  private readonly allocated: AllocationBitmap;
  private readonly holders = new Map<bigint, string>();
  private readonly heldBy = new Map<string, bigint>();
  private readonly freed = new Map<bigint, FreedBy>();
  private readonly freedBy = new Map<string, Set<bigint>>();
  private coolingQueue = new CooldownQueue();
  private readonly blocked = new Set<bigint>();
  private last: bigint | undefined;
  private releaseCount = 0;

  /** `cooldown`: time before another owner may get a freed address, ms, unless its record has its own. */
  constructor(
    ranges: readonly AddressRange[],
    private readonly cooldown: number,
  ) {
    this.space = new AddressSpace(ranges);
    this.allocated = new AllocationBitmap(this.space.size);
  }

  /** Address last allocated in sequence; undefined before the first. */
  get cursor(): string | undefined {
    return this.last === undefined ? undefined : this.space.toAddress(this.last);
  }

  /** Returns the usage at `now`, ms of the store's clock. Linear in the freed addresses. */
  metricsAt(now: number): PoolMetrics {
    let cooling = 0;
    for (const [n, { until }] of this.freed) if (until > now && this.isIdle(n)) cooling += 1;
    return { size: this.space.size, used: this.holders.size + this.blocked.size, cooling };
  }

  /** Number of releases so far; when it grows, an owner without an address may try again. */
  get releases(): number {
    return this.releaseCount;
  }

  /** True if `ip` is an address of this pool. */
  contains(ip: string): boolean {
    return this.space.toNumber(ip) !== undefined;
  }

  /** True if `owner` holds `ip` here; without `ip`, true if it holds no address. */
  holds(owner: string, ip: string | undefined): boolean {
    const held = this.heldBy.get(owner);
    return ip === undefined ? held === undefined : held !== undefined && held === this.space.toNumber(ip);
  }

  /** Continues the sequence after `ip`; an address outside the pool is ignored. */
  moveCursor(ip: string): void {
    this.last = this.space.toNumber(ip) ?? this.last;
  }

  /** Continues the sequence after the highest address that is held or was freed; for a pool whose cursor is unknown. */
  moveCursorToHighest(): void {
    for (const n of [...this.holders.keys(), ...this.freed.keys()]) {
      if (this.last === undefined || n > this.last) this.last = n;
    }
  }

  /**
   * Reserves `ip` for `owner` and releases its former address. Returns `taken` if another owner holds it, `outside` if
   * it is not in this pool; the former address is released in both cases.
   */
  reserve(owner: string, ip: string): 'held' | 'taken' | 'outside' {
    const n = this.space.toNumber(ip);
    if (n !== undefined && this.heldBy.get(owner) === n) return 'held';
    this.release(owner);
    if (n === undefined) return 'outside';
    if (this.holders.has(n)) return 'taken';
    this.hold(owner, n);
    return 'held';
  }

  /** Releases the address of `owner`. It cools down only if `markFreed` names it. */
  release(owner: string): void {
    const n = this.heldBy.get(owner);
    if (n === undefined) return;
    this.releaseCount += 1;
    this.heldBy.delete(owner);
    this.holders.delete(n);
    const freed = this.freed.get(n);
    if (freed) this.startCooldown(n, freed.until);
    this.updateAllocated(n);
  }

  /**
   * Records that `owner` freed `ip`, whose cooldown then begins. Of several records of an address the latest applies:
   * by time, in the same ms by revision; a repeated record keeps its cooldown and gets the later revision.
   */
  markFreed(owner: string, ip: string, { at, revision = 0, cooldown = this.cooldown }: Freeing): void {
    const n = this.space.toNumber(ip);
    if (n === undefined) return;
    const known = this.freed.get(n);
    if (known?.owner === owner && known.at === at) {
      this.freed.set(n, { ...known, revision: Math.max(known.revision, revision) });
      return;
    }
    if (known && (known.at > at || (known.at === at && countsBefore(known, { owner, revision })))) return;
    if (known) this.freedBy.get(known.owner)?.delete(n);
    const until = at + cooldown;
    this.freed.set(n, { owner, at, until, revision });
    this.freedBy.set(owner, (this.freedBy.get(owner) ?? new Set<bigint>()).add(n));
    if (this.holders.has(n)) return;
    this.releaseCount += 1;
    this.startCooldown(n, until);
    this.updateAllocated(n);
  }

  /** Excludes `ip` for ever, because a holder outside the pool uses it. */
  block(ip: string): void {
    const n = this.space.toNumber(ip);
    if (n === undefined) return;
    this.blocked.add(n);
    this.updateAllocated(n);
  }

  /** Allocates an address to `owner`. */
  allocate(owner: string, { now, floor = Infinity }: AllocationMoment): Allocation {
    const n = this.heldBy.get(owner) ?? this.findFormerAddress(owner) ?? this.next();
    if (n !== undefined) return this.give(owner, n);
    const rested = this.firstRested();
    if (!rested) return { ok: false };
    if (rested.until > now) return { ok: false, retryAt: rested.until };
    const { revision = 0 } = this.freed.get(rested.n) ?? {};
    if (revision > floor) return { ok: false, heldAt: revision };
    return this.give(owner, rested.n);
  }

  private give(owner: string, n: bigint): Allocation {
    this.hold(owner, n);
    return { ok: true, ip: this.space.toAddress(n) };
  }

  private hold(owner: string, n: bigint): void {
    if (this.heldBy.get(owner) === n) return;
    this.heldBy.set(owner, n);
    this.holders.set(n, owner);
    this.updateAllocated(n);
  }

  private startCooldown(n: bigint, until: number): void {
    this.coolingQueue.push({ n, until });
    if (this.coolingQueue.length > 2 * this.freed.size + 64) this.sweepQueue();
  }

  /** Removes outdated entries, which are otherwise dropped only at the head of the queue: an address freed repeatedly would accumulate them. */
  private sweepQueue(): void {
    this.coolingQueue = new CooldownQueue();
    for (const [n, { until }] of this.freed) if (this.isIdle(n)) this.coolingQueue.push({ n, until });
  }

  private updateAllocated(n: bigint): void {
    if (this.holders.has(n) || this.freed.has(n) || this.blocked.has(n)) this.allocated.add(n);
    else this.allocated.remove(n);
  }

  private findFormerAddress(owner: string): bigint | undefined {
    let best: bigint | undefined;
    for (const n of this.freedBy.get(owner) ?? []) {
      if (!this.isIdle(n)) continue;
      if (
        best === undefined ||
        this.freedAt(n) > this.freedAt(best) ||
        (this.freedAt(n) === this.freedAt(best) && n < best)
      )
        best = n;
    }
    return best;
  }

  private next(): bigint | undefined {
    const start = this.last === undefined ? 0n : this.last + 1n;
    const onwards = this.allocated.nextFree(start);
    const n = onwards < this.space.size ? onwards : this.allocated.nextFree(0n);
    if (n >= this.space.size) return undefined;
    this.last = n;
    return n;
  }

  private firstRested(): CoolingAddress | undefined {
    for (;;) {
      const first = this.coolingQueue.first;
      if (!first || (this.isIdle(first.n) && this.freed.get(first.n)?.until === first.until)) return first;
      this.coolingQueue.shift();
    }
  }

  private isIdle(n: bigint): boolean {
    return !this.holders.has(n) && !this.blocked.has(n);
  }

  private freedAt(n: bigint): number {
    return this.freed.get(n)?.at ?? 0;
  }
}

/** Whether the known record has precedence over another one of the same ms. */
function countsBefore(known: Pick<FreedBy, 'owner' | 'revision'>, other: Pick<FreedBy, 'owner' | 'revision'>): boolean {
  return known.revision === other.revision ? known.owner < other.owner : known.revision > other.revision;
}
