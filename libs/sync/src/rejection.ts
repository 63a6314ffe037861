/** A resource that is not taken in, and why; it counts as handled (design.md §5 One bad resource). */
export interface Rejection {
  /** Empty where the peer does not say which resource it means. */
  readonly wireKey: string;
  readonly reason: string;
}

/** Most rejections that are remembered of one kind: enough to see what is wrong. */
const MAX_REMEMBERED = 20;

/** Most characters that are remembered of a name or a reason. */
const MAX_TEXT_LENGTH = 512;

/**
 * What of one kind stands rejected now: a resource that is sent again or removed starts over. What a peer rejects without
 * saying which it means stands until everything that it may mean was answered again.
 */
export class Rejections {
  private readonly reasons = new Map<string, string>();
  /** What a reason without a resource may be about. */
  private readonly suspects = new Set<string>();
  private count = 0;

  /** A message with these resources was answered with these rejections. */
  recordAnswer(wireKeys: Iterable<string>, rejected: readonly Rejection[]): void {
    const answered = [...wireKeys];
    for (const wireKey of answered) {
      this.reasons.delete(wireKey);
      this.suspects.delete(wireKey);
    }
    if (this.suspects.size === 0) this.reasons.delete('');
    this.count += rejected.length;
    for (const { wireKey: named, reason } of rejected) {
      const wireKey = named || only(answered);
      if (wireKey === '') for (const suspect of answered) this.suspects.add(suspect);
      if (wireKey.length > MAX_TEXT_LENGTH || wireKey.includes('\0')) continue;
      if (this.reasons.size < MAX_REMEMBERED || this.reasons.has(wireKey)) this.reasons.set(wireKey, storable(reason));
    }
  }

  /** What stands rejected, the first few. */
  current(): readonly Rejection[] {
    return [...this.reasons].map(([wireKey, reason]) => ({ wireKey, reason }));
  }

  /** How many there ever were. */
  get total(): number {
    return this.count;
  }
}

/** As much of a peer's text as is remembered, without what a store cannot hold: NUL, and half a character at the cut. */
function storable(text: string): string {
  return text
    .slice(0, MAX_TEXT_LENGTH)
    .replaceAll('\0', '\ufffd')
    .replace(/[\ud800-\udbff]$/, '');
}

/** The one resource of a message; empty where there are several. */
function only([first, ...others]: readonly string[]): string {
  return first === undefined || others.length > 0 ? '' : first;
}
