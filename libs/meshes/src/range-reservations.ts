import { describeRange, overlaps, parseRange, type AddressRange } from '@causeway/ipam';

interface ReservationEntry {
  readonly mesh: string;
  readonly kind: string;
  readonly range: AddressRange;
}

/** Address ranges reserved by Meshes: ranges of two meshes never share an address. */
export class RangeReservations {
  /** Disjoint from mesh to mesh, in order of family and first address. */
  private readonly entries: ReservationEntry[] = [];

  /**
   * Reserves the ranges of one mesh (kind → range), all or none: returns why they cannot be reserved, naming both
   * meshes. Text that is no range is ignored here; it has its own check. Logarithmic in the reserved ranges, except for
   * the insertion itself.
   */
  reserve(mesh: string, ranges: Readonly<Record<string, string | undefined>>): string | undefined {
    const wanted = Object.entries(ranges).flatMap(([kind, text]): ReservationEntry[] => {
      const parsed = parseRange(text ?? '');
      return parsed.ok ? [{ mesh, kind, range: parsed.range }] : [];
    });
    for (const { kind, range } of wanted) {
      const other = this.overlapping(range);
      if (!other) continue;
      return (
        `the range ${describeRange(range)} of ${kind} in mesh "${mesh}" shares addresses with ` +
        `${describeRange(other.range)} of ${other.kind} in mesh "${other.mesh}", which is older`
      );
    }
    for (const entry of wanted) this.entries.splice(this.findPosition(entry.range), 0, entry);
    return undefined;
  }

  private overlapping(range: AddressRange): ReservationEntry | undefined {
    const place = this.findPosition(range);
    // Ranges of one mesh may contain each other, at most three levels deep.
    for (let i = Math.max(0, place - 3); i < Math.min(this.entries.length, place + 1); i++) {
      const entry = this.entries[i];
      if (entry && overlaps(entry.range, range)) return entry;
    }
    return undefined;
  }

  /** Returns the index of the first entry that begins after `range`. */
  private findPosition(range: AddressRange): number {
    let [low, high] = [0, this.entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const entry = this.entries[middle];
      if (entry && isBefore(entry.range, range)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isBefore(a: AddressRange, b: AddressRange): boolean {
  return a.family === b.family ? a.first <= b.first : a.family < b.family;
}
