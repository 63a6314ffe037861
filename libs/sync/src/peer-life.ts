/** A life that has shown itself and is not accepted yet, and when it was first seen, ms since 1970. */
export interface PendingLife {
  readonly incarnation: string;
  readonly since: number;
}

/** What is known of the lives of a peer's store. */
export interface KnownLife {
  /** The life whose absences are deletions; empty before the first contact. */
  readonly accepted: string;
  readonly pending?: PendingLife;
}

/** Whether what is absent from a peer's state was deleted. */
export interface LifeVerdict {
  readonly known: KnownLife;
  /** Undefined when absences apply; else until when they are held, ms since 1970. */
  readonly heldUntil?: number;
}

/** Before the first contact. */
export const NO_LIFE: KnownLife = Object.freeze({ accepted: '' });

/**
 * A peer's state has come from the life `incarnation`: a new life is not a deletion, its absences are held for `hold`
 * ms from its first sight (design.md §5). The first life ever seen is accepted.
 */
export function judgeLife(known: KnownLife, incarnation: string, now: number, hold: number): LifeVerdict {
  if (known.accepted === '' || known.accepted === incarnation) {
    const settled = known.accepted === incarnation && known.pending === undefined;
    return { known: settled ? known : { accepted: incarnation } };
  }
  const pending = known.pending?.incarnation === incarnation ? known.pending : { incarnation, since: now };
  const until = pending.since + hold;
  if (now >= until) return { known: { accepted: incarnation } };
  return { known: pending === known.pending ? known : { accepted: known.accepted, pending }, heldUntil: until };
}

/** Whether the operator's word is about the life that is pending: about this sight of it, not an earlier or later one. */
export function isConfirmed({ pending }: KnownLife, word: PendingLife | undefined): boolean {
  return pending !== undefined && pending.incarnation === word?.incarnation && pending.since === word.since;
}

/** The life that is pending is taken for the true one. */
export function confirmLife(known: KnownLife): KnownLife {
  return known.pending ? { accepted: known.pending.incarnation } : known;
}
