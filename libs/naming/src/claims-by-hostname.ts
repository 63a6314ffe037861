import type { Claim } from './claim';
import { NameHashMap } from './name-hash-map';
import { compareClaims } from './precedence';

/**
 * The claims on the hostnames of one mesh; each claim in it has a hostname. A contested name keeps its claims in a heap, winner on top, so that adding
 * and removing cost the logarithm of their number even when everybody wants one name.
 */
export class ClaimsByHostname {
  /** Any claim of the name: it leads to its rivals, of which most names have none. */
  private readonly byName = new NameHashMap<Claim>(({ hostname = '' }) => hostname);

  /** All names that somebody claims, in no order. */
  *names(): Iterable<string> {
    for (const { hostname = '' } of this.byName.values()) yield hostname;
  }

  winner(hostname: string): Claim | undefined {
    const held = this.byName.get(hostname);
    return held && winnerOf(held);
  }

  /** The claims on `hostname`, the winner first. */
  ranked(hostname: string): readonly Claim[] {
    const held = this.byName.get(hostname);
    if (!held) return [];
    return held.rivals ? [...held.rivals].sort(compareClaims) : [held];
  }

  /** Adds a claim; returns the claims whose outcome or reason may now differ besides its own: all or none. */
  add(claim: Claim): readonly Claim[] {
    const held = this.byName.add(claim);
    if (held === claim) return [];
    const heap = (held.rivals ??= [held]);
    claim.rivals = heap;
    heap.push(claim);
    rise(heap, heap.length - 1, claim);
    return heap[0] === claim ? heap : [];
  }

  /** Takes back a claim that is in; returns the claims whose outcome or reason may now differ: all left, or none. */
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
    this.letGo(claim, hostname, heap);
    return slot === 0 ? heap : [];
  }

  private letGo(claim: Claim, hostname: string, heap: readonly Claim[]): void {
    claim.rivals = undefined;
    claim.slot = 0;
    const [top] = heap;
    if (!top) return;
    if (heap.length === 1) top.rivals = undefined;
    if (this.byName.get(hostname) === claim) this.byName.replace(top);
  }
}

/** The strongest claim on the hostname of `claim`. */
export function winnerOf(claim: Claim): Claim {
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
