/** A rejected resource and the reason; it is treated as acknowledged (docs/design.md §5 "One bad resource"). */
export interface Rejection {
  /** Empty if the peer does not name the resource. */
  readonly wireKey: string;
  readonly reason: string;
}

/** Maximum number of rejections kept per kind: enough for a diagnosis. */
const MAX_REMEMBERED = 20;

/** Maximum length kept of a name or reason, characters. */
const MAX_TEXT_LENGTH = 512;

/**
 * The resources of one kind that are rejected now. Resending or removing a resource clears its rejection. A rejection
 * without a name stays until every resource that it may refer to was acknowledged again.
 */
export class Rejections {
  private readonly reasons = new Map<string, string>();
  /** Resources that a rejection without a name may refer to. */
  private readonly suspects = new Set<string>();
  private count = 0;

  /** Records the acknowledgement of a message: its resources, and those of them that were rejected. */
  recordAnswer(wireKeys: Iterable<string>, rejected: readonly Rejection[]): void {
    if (rejected.length === 0 && this.reasons.size === 0 && this.suspects.size === 0) return;
    const answered = [...wireKeys];
    for (const wireKey of answered) {
      this.reasons.delete(wireKey);
      this.suspects.delete(wireKey);
    }
    if (this.suspects.size === 0) this.reasons.delete('');
    this.count += rejected.length;
    for (const { wireKey: named, reason } of rejected) {
      const wireKey = named || findOnly(answered);
      if (wireKey === '') for (const suspect of answered) this.suspects.add(suspect);
      if (wireKey.length > MAX_TEXT_LENGTH || wireKey.includes('\0')) continue;
      if (this.reasons.size < MAX_REMEMBERED || this.reasons.has(wireKey))
        this.reasons.set(wireKey, toStorableText(reason));
    }
  }

  /** The first few resources that are rejected now. */
  current(): readonly Rejection[] {
    return [...this.reasons].map(([wireKey, reason]) => ({ wireKey, reason }));
  }

  /** Number of rejections so far. */
  get total(): number {
    return this.count;
  }
}

/** Returns a peer's text, cut, without characters that a store cannot hold: NUL, and half a surrogate pair at the cut. */
function toStorableText(text: string): string {
  return text
    .slice(0, MAX_TEXT_LENGTH)
    .replaceAll('\0', '\ufffd')
    .replace(/[\ud800-\udbff]$/, '');
}

/** Returns the only resource of a message; empty if there are several. */
function findOnly([first, ...others]: readonly string[]): string {
  return first === undefined || others.length > 0 ? '' : first;
}
