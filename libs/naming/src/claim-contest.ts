import type { Claim } from './claim';
import { compareClaims } from './precedence';

/**
 * The claims on the hostnames of one mesh. A contested name keeps its claims in a heap, winner on top, so that adding
 * and removing cost the logarithm of their number even when everybody wants one name.
 */
export class ClaimContest {
  // Nearly every name has one claim: that one stands here without a list round it.
  private readonly byName = new Map<string, Claim | Claim[]>();

  /** All names that somebody claims, in no order. */
  names(): Iterable<string> {
    return this.byName.keys();
  }

  winner(hostname: string): Claim | undefined {
    const held = this.byName.get(hostname);
    return Array.isArray(held) ? held[0] : held;
  }

  /** The claims on `hostname`, the winner first. */
  ranked(hostname: string): readonly Claim[] {
    const held = this.byName.get(hostname);
    if (held === undefined) return [];
    return Array.isArray(held) ? [...held].sort(compareClaims) : [held];
  }

  /** Adds a claim; returns the claims whose outcome or reason may now differ besides its own: all or none. */
  add(claim: Claim, hostname: string): readonly Claim[] {
    claim.slot = 0;
    const held = this.byName.get(hostname);
    if (held === undefined) {
      this.byName.set(hostname, claim);
      return [];
    }
    const heap = Array.isArray(held) ? held : [held];
    if (heap !== held) this.byName.set(hostname, heap);
    heap.push(claim);
    rise(heap, heap.length - 1, claim);
    return heap[0] === claim ? heap : [];
  }

  /** Takes a claim back; returns the claims whose outcome or reason may now differ: all that are left, or none. */
  remove(claim: Claim, hostname: string): readonly Claim[] {
    const held = this.byName.get(hostname);
    if (!Array.isArray(held)) {
      if (held === claim) this.byName.delete(hostname);
      return [];
    }
    const { slot } = claim;
    if (held[slot] !== claim) return [];
    const last = held.pop();
    if (last !== undefined && last !== claim) {
      sink(held, slot, last);
      rise(held, last.slot, last);
    }
    const [only] = held;
    if (held.length === 1 && only) this.byName.set(hostname, only);
    return slot === 0 ? held : [];
  }
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

/** Moves `claim` to `slot`; returns where it stood. */
function place(heap: Claim[], slot: number, claim: Claim): number {
  const before = claim.slot;
  put(heap, slot, claim);
  return before;
}

function put(heap: Claim[], slot: number, claim: Claim): void {
  heap[slot] = claim;
  claim.slot = slot;
}
