/** A new incarnation of a peer that is not accepted yet; `since` is when it was first seen, ms since 1970. */
export interface PendingIncarnation {
  readonly incarnation: string;
  readonly since: number;
}

/** The incarnations of a peer's store that this control plane knows. */
export interface KnownIncarnation {
  /** The incarnation whose absences are deletions; empty before the first contact. */
  readonly accepted: string;
  readonly pending?: PendingIncarnation;
}

/** Whether a resource that is absent from a peer's state was deleted. */
export interface IncarnationDecision {
  readonly known: KnownIncarnation;
  /** Undefined if absences are deletions; else absent resources are held until then, ms since 1970. */
  readonly heldUntil?: number;
}

/** Suffix for the incarnation of a store that was rolled back but kept its incarnation. */
const ROLLED_BACK = ' (set back)';

/**
 * Returns the name under which `decideIncarnation` treats a rolled-back store: it offers a revision below the applied
 * one, so its absences are no more deletions than those of a new incarnation. Once accepted, it loses the suffix.
 */
export function rolledBackIncarnation(incarnation: string): string {
  return incarnation + ROLLED_BACK;
}

function acceptedAs(incarnation: string): string {
  return incarnation.endsWith(ROLLED_BACK) ? incarnation.slice(0, -ROLLED_BACK.length) : incarnation;
}

/** The state before the first contact. */
export const NO_INCARNATION: KnownIncarnation = Object.freeze({ accepted: '' });

/**
 * Decides how to treat a state of `incarnation`. A new incarnation is not a deletion: resources that its state lacks
 * are held for `hold` ms from its first sight (docs/design.md §5). The first incarnation ever seen is accepted
 * immediately. Returns the same `known` object if nothing changed.
 */
export function decideIncarnation(
  known: KnownIncarnation,
  incarnation: string,
  now: number,
  hold: number,
): IncarnationDecision {
  if (known.accepted === '' || known.accepted === incarnation) {
    const settled = known.accepted === incarnation && known.pending === undefined;
    return { known: settled ? known : { accepted: acceptedAs(incarnation) } };
  }
  const pending = known.pending?.incarnation === incarnation ? known.pending : { incarnation, since: now };
  const until = pending.since + hold;
  if (now >= until) return { known: { accepted: acceptedAs(incarnation) } };
  return { known: pending === known.pending ? known : { accepted: known.accepted, pending }, heldUntil: until };
}

/**
 * Returns whether the operator's confirmation names the pending incarnation and this sight of it, not an earlier or later one.
 */
export function isConfirmed({ pending }: KnownIncarnation, confirmation: PendingIncarnation | undefined): boolean {
  return (
    pending !== undefined && pending.incarnation === confirmation?.incarnation && pending.since === confirmation.since
  );
}

/** Accepts the pending incarnation, if there is one. */
export function confirmIncarnation(known: KnownIncarnation): KnownIncarnation {
  return known.pending ? { accepted: acceptedAs(known.pending.incarnation) } : known;
}

/** State of a zone that a global in a new incarnation knows. */
export interface AwaitedZone {
  readonly enabled: boolean;
  /** Set for a session in any incarnation of the global. */
  readonly hadSession: boolean;
  /** Its full state has arrived in this incarnation. */
  readonly reported: boolean;
}

/**
 * Returns whether a global whose incarnation began at `since` (ms since 1970) has its zones' state: every enabled zone
 * that ever had a session has reported, or `hold` ms have passed (docs/design.md §5).
 */
export function isIncarnationComplete(
  zones: Iterable<AwaitedZone>,
  times: { readonly since: number; readonly hold: number; readonly now: number },
): boolean {
  if (times.now - times.since >= times.hold) return true;
  return [...zones].every(({ enabled, hadSession, reported }) => !enabled || !hadSession || reported);
}
