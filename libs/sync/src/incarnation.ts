/** A life that has shown itself and is not accepted yet, and when it was first seen, ms since 1970. */
export interface PendingIncarnation {
  readonly incarnation: string;
  readonly since: number;
}

/** What is known of the lives of a peer's store. */
export interface KnownIncarnation {
  /** The life whose absences are deletions; empty before the first contact. */
  readonly accepted: string;
  readonly pending?: PendingIncarnation;
}

/** Whether what is absent from a peer's state was deleted. */
export interface IncarnationVerdict {
  readonly known: KnownIncarnation;
  /** Undefined when absences apply; else until when they are held, ms since 1970. */
  readonly heldUntil?: number;
}

/** What is added to the name of a life whose state went back without a new life. */
const ROLLED_BACK = ' (set back)';

/**
 * The name under which a life is judged whose state lies before what was applied of it: its store was set back and does
 * not know it, so its absences are as little deletions as those of a new life. Once accepted it is the life itself.
 */
export function rolledBackIncarnation(incarnation: string): string {
  return incarnation + ROLLED_BACK;
}

function acceptedAs(incarnation: string): string {
  return incarnation.endsWith(ROLLED_BACK) ? incarnation.slice(0, -ROLLED_BACK.length) : incarnation;
}

/** Before the first contact. */
export const NO_INCARNATION: KnownIncarnation = Object.freeze({ accepted: '' });

/**
 * A peer's state has come from the life `incarnation`: a new life is not a deletion, its absences are held for `hold`
 * ms from its first sight (design.md §5). The first life ever seen is accepted.
 */
export function judgeIncarnation(
  known: KnownIncarnation,
  incarnation: string,
  now: number,
  hold: number,
): IncarnationVerdict {
  if (known.accepted === '' || known.accepted === incarnation) {
    const settled = known.accepted === incarnation && known.pending === undefined;
    return { known: settled ? known : { accepted: acceptedAs(incarnation) } };
  }
  const pending = known.pending?.incarnation === incarnation ? known.pending : { incarnation, since: now };
  const until = pending.since + hold;
  if (now >= until) return { known: { accepted: acceptedAs(incarnation) } };
  return { known: pending === known.pending ? known : { accepted: known.accepted, pending }, heldUntil: until };
}

/** Whether the operator's word is about the life that is pending: about this sight of it, not an earlier or later one. */
export function isConfirmed({ pending }: KnownIncarnation, confirmation: PendingIncarnation | undefined): boolean {
  return (
    pending !== undefined && pending.incarnation === confirmation?.incarnation && pending.since === confirmation.since
  );
}

/** The life that is pending is taken for the true one. */
export function confirmIncarnation(known: KnownIncarnation): KnownIncarnation {
  return known.pending ? { accepted: acceptedAs(known.pending.incarnation) } : known;
}
