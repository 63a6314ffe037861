import { Conflict, shortened } from '@causeway/resources';

/**
 * The rotation of a zone's certificate authority, as data. It is pure: each function returns the next state, which is
 * stored before anything acts on it, so a crash between two steps loses nothing and repeats nothing.
 *
 *   steady ── begin ──► trusting ── acks of all, deadline or force ──► retiring ── the last certificate ended ──► steady
 *             both trusted, old signs                        both trusted, new signs             old dropped
 */
export type RotationStep =
  | { readonly type: 'steady' }
  | {
      readonly type: 'trusting';
      readonly next: string;
      readonly startedAt: number;
      /** End of the wait for acks, ms since 1970. */
      readonly deadline: number;
    }
  | {
      readonly type: 'retiring';
      readonly old: string;
      /** The time from which no certificate of the old authority is valid, ms since 1970. */
      readonly dropAt: number;
      readonly usedSince: number;
      readonly usedBy: 'acks' | 'deadline' | 'force';
      /** Peers that had not acked the new authority when it was first used; at most 100. */
      readonly missing: readonly string[];
    };

/** Part of an authority that decides a rotation. */
export interface RotatedAuthority {
  readonly id: string;
  /** Maximum validity of a certificate that it may sign, ms; never decreases. */
  readonly longestValidity: number;
}

/** Authorities of a zone: all are trusted, one signs. */
export interface AuthorityState<Authority extends RotatedAuthority = RotatedAuthority> {
  /** Id of the signing one. */
  readonly signing: string;
  readonly authorities: readonly Authority[];
  readonly step: RotationStep;
}

/** Facts from which a leader decides whether the next step is due. */
export interface RotationEvidence {
  readonly now: number;
  /** Live proxies that have not acked the current trust; sorted. */
  readonly missing: readonly string[];
  /** The operator skips the wait. */
  readonly force?: boolean;
  /** Time for which an authority is trusted after its last certificate, ms; default: `SIGNING_SLACK`. */
  readonly slack?: number;
}

/** Maximum number of missing proxies in a state. */
const MAX_MISSING = 100;
/** Default slack for signatures in progress and clock differences, ms. */
export const SIGNING_SLACK = 10 * 60_000;

/** Returns a state with one authority, which signs. */
export function steadyState<A extends RotatedAuthority>(authority: A): AuthorityState<A> {
  return { signing: authority.id, authorities: [authority], step: { type: 'steady' } };
}

/** Starts a rotation: `next` is trusted and does not sign yet. Throws Conflict during a rotation. */
export function beginRotation<A extends RotatedAuthority>(
  state: AuthorityState<A>,
  next: A,
  times: { readonly now: number; readonly deadline: number },
): AuthorityState<A> {
  if (state.step.type !== 'steady')
    throw new Conflict(`a rotation of the authority is already at its step "${state.step.type}"`);
  const step = { type: 'trusting', next: next.id, startedAt: times.now, deadline: times.deadline } as const;
  return { ...state, authorities: [...state.authorities, next], step };
}

/** Abandons a rotation before the new authority is used, and drops it. Throws Conflict at any other step. */
export function abandonRotation<A extends RotatedAuthority>(state: AuthorityState<A>): AuthorityState<A> {
  const { step } = state;
  if (step.type !== 'trusting')
    throw new Conflict(`a rotation can be abandoned only at its step "trusting"; it is at "${step.type}"`);
  return { ...state, authorities: state.authorities.filter(({ id }) => id !== step.next), step: { type: 'steady' } };
}

/** Returns the next state if it is due, else `state` itself. At most one step per call. */
export function advanceRotation<A extends RotatedAuthority>(
  state: AuthorityState<A>,
  { now, missing, force = false, slack = SIGNING_SLACK }: RotationEvidence,
): AuthorityState<A> {
  const { step } = state;
  switch (step.type) {
    case 'steady':
      return state;
    case 'trusting': {
      const usedBy = missing.length === 0 ? 'acks' : force ? 'force' : now >= step.deadline ? 'deadline' : undefined;
      if (usedBy === undefined) return state;
      const named = missing.slice(0, MAX_MISSING).map((name) => shortened(name, 300));
      const dropAt = now + getValidity(state, state.signing) + slack;
      const retiring = {
        type: 'retiring',
        old: state.signing,
        dropAt,
        usedSince: now,
        usedBy,
        missing: named,
      } as const;
      return { ...state, signing: step.next, step: retiring };
    }
    case 'retiring':
      if (now < step.dropAt) return state;
      return { ...state, authorities: state.authorities.filter(({ id }) => id !== step.old), step: { type: 'steady' } };
  }
}

/** Lets the authorities of a state sign for `validity`; a retiring one keeps its bound. */
export function allowValidity<A extends RotatedAuthority>(
  state: AuthorityState<A>,
  validity: number,
): AuthorityState<A> {
  const isLonger = ({ id, longestValidity }: A): boolean => mayGrow(state, id) && longestValidity < validity;
  if (!state.authorities.some(isLonger)) return state;
  const authorities = state.authorities.map((one) => (isLonger(one) ? { ...one, longestValidity: validity } : one));
  return { ...state, authorities };
}

/** Returns whether an authority may sign longer: a retiring one signs no more, so its end is fixed. */
function mayGrow({ step }: AuthorityState, id: string): boolean {
  return step.type !== 'retiring' || step.old !== id;
}

function getValidity({ authorities }: AuthorityState, id: string): number {
  return authorities.find((one) => one.id === id)?.longestValidity ?? 0;
}
