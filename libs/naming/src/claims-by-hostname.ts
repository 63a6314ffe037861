import type { Claim } from './claim';
import { NameHashMap } from './name-hash-map';
import { compareClaims } from './precedence';

/**
 * The claims of one mesh by hostname; claims without a hostname are not included. A contested name has a heap of claims
 * with the winner on top, so that adding and removing cost the logarithm of their number even if all services claim one
 * name.
 */
export class ClaimsByHostname {
  /** One claim of each name, with a reference to its rivals; most names have none. */
  private readonly byName = new NameHashMap<Claim>(({ hostname = '' }) => hostname);

  /** Returns all claimed names, in no order. */
  *names(): Iterable<string> {
    for (const { hostname = '' } of this.byName.values()) yield hostname;
  }

  winner(hostname: string): Claim | undefined {
    const held = this.byName.get(hostname);
    return held && findWinner(held);
  }

  /** Returns the claims on `hostname`, the winner first. */
  ranked(hostname: string): readonly Claim[] {
    const held = this.byName.get(hostname);
    if (!held) return [];
    return held.rivals ? [...held.rivals].sort(compareClaims) : [held];
  }

  /** Adds a claim; returns the other claims whose outcome or reason may have changed: all of the name, or none. */
  add(claim: Claim): readonly Claim[] {
    const held = this.byName.add(claim);
    if (held === claim) return [];
    const heap = (held.rivals ??= [held]);
    claim.rivals = heap;
    heap.push(claim);
    rise(heap, heap.length - 1, claim);
    return heap[0] === claim ? heap : [];
  }

  /** Removes a claim; returns the claims whose outcome or reason may have changed: all remaining ones, or none. */
  remove(claim: Claim): readonly Claim[] {
    const { hostname = '', rivals: heap, slot } = claim;
    if (!heap) {
      this.byName.delete(hostname);
      return [];
    }
    const last = heap.pop();
    if (last && last !== claim) {
      sink(heap, slot, last);
      rise(heap, last.slot, last);
    }
    this.detach(claim, hostname, heap);
    return slot === 0 ? heap : [];
  }

  private detach(claim: Claim, hostname: string, heap: readonly Claim[]): void {
    claim.rivals = undefined;
    claim.slot = 0;
    const [top] = heap;
    if (!top) return;
    if (heap.length === 1) top.rivals = undefined;
    if (this.byName.get(hostname) === claim) this.byName.replace(top);
  }
}

/** Returns the strongest claim on the hostname of `claim`. */
export function findWinner(claim: Claim): Claim {
  return claim.rivals?.[0] ?? claim;
}

function rise(heap: Claim[], from: number, claim: Claim): void {
  let slot = from;
  while (slot > 0) {
    const parent = heap[(slot - 1) >> 1];
    if (!parent || compareClaims(parent, claim) <= 0) break;
    slot = place(heap, slot, parent);
  }
  put(heap, slot, claim);
}

function sink(heap: Claim[], from: number, claim: Claim): void {
  let slot = from;
  for (;;) {
    const left = heap[2 * slot + 1];
    const right = heap[2 * slot + 2];
    const child = left && right && compareClaims(right, left) < 0 ? right : left;
    if (!child || compareClaims(claim, child) <= 0) break;
    slot = place(heap, slot, child);
  }
  put(heap, slot, claim);
}

/** Moves `claim` to `slot`; returns its former slot. */
function place(heap: Claim[], slot: number, claim: Claim): number {
  const before = claim.slot;
  put(heap, slot, claim);
  return before;
}

function put(heap: Claim[], slot: number, claim: Claim): void {
  heap[slot] = claim;
  claim.slot = slot;
}
