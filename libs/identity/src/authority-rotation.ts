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
      /** The wait for acks ends here, ms since 1970. */
      readonly deadline: number;
    }
  | {
      readonly type: 'retiring';
      readonly old: string;
      /** No certificate of the old authority is valid from here on, ms since 1970. */
      readonly dropAt: number;
      readonly usedSince: number;
      readonly usedBy: 'acks' | 'deadline' | 'force';
      /** Peers that had not acknowledged the new authority when it was first used; the first hundred. */
      readonly missing: readonly string[];
    };

/** The part of an authority that rotation decides by. */
export interface RotatedAuthority {
  readonly id: string;
  /** The longest validity of a certificate that it may sign, ms; it only grows. */
  readonly longestValidity: number;
}

/** The authorities of a zone: all are trusted, one signs. */
export interface AuthorityState<Authority extends RotatedAuthority = RotatedAuthority> {
  /** The id of the one that signs. */
  readonly signing: string;
  readonly authorities: readonly Authority[];
  readonly step: RotationStep;
}

/** Facts from which a leader decides whether the next step is due. */
export interface RotationEvidence {
  readonly now: number;
  /** Live proxies that have not acked the trust that holds now; sorted. */
  readonly missing: readonly string[];
  /** The operator does not wait for them. */
  readonly force?: boolean;
  /** Time for which an authority is trusted after its last certificate, ms; `SIGNING_SLACK` by default. */
  readonly slack?: number;
}

/** Proxies that a state names as missing. */
const MAX_MISSING = 100;
/** Between the read of a state and the end of a signature made by it, and between two clocks, ms; where nothing else is set. */
export const SIGNING_SLACK = 10 * 60_000;

/** A state with one authority, which signs. */
export function steadyState<A extends RotatedAuthority>(authority: A): AuthorityState<A> {
  return { signing: authority.id, authorities: [authority], step: { type: 'steady' } };
}

/** Begins: `next` is trusted and not used. Throws Conflict while a rotation runs. */
export function beginRotation<A extends RotatedAuthority>(
  state: AuthorityState<A>,
  next: A,
  times: { readonly now: number; readonly deadline: number },
): AuthorityState<A> {
  if (state.step.type !== 'steady')
    throw new Conflict(`a rotation of the authority is at its step "${state.step.type}"`);
  const step = { type: 'trusting', next: next.id, startedAt: times.now, deadline: times.deadline } as const;
  return { ...state, authorities: [...state.authorities, next], step };
}

/** Gives a rotation up before the new authority was used: it is dropped. Throws Conflict at any other step. */
export function abandonRotation<A extends RotatedAuthority>(state: AuthorityState<A>): AuthorityState<A> {
  const { step } = state;
  if (step.type !== 'trusting')
    throw new Conflict(`a rotation can be given up at its step "trusting" only; it is at "${step.type}"`);
  return { ...state, authorities: state.authorities.filter(({ id }) => id !== step.next), step: { type: 'steady' } };
}

/** The next state where it is due, else `state` itself. At most one step a call. */
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

/** Lets every authority of a steady or trusting state sign for `validity`; certificates that exist stay within their bound. */
export function allowValidity<A extends RotatedAuthority>(
  state: AuthorityState<A>,
  validity: number,
): AuthorityState<A> {
  const isLonger = ({ id, longestValidity }: A): boolean => mayGrow(state, id) && longestValidity < validity;
  if (!state.authorities.some(isLonger)) return state;
  const authorities = state.authorities.map((one) => (isLonger(one) ? { ...one, longestValidity: validity } : one));
  return { ...state, authorities };
}

/** A retiring authority signs no more: its end is fixed. */
function mayGrow({ step }: AuthorityState, id: string): boolean {
  return step.type !== 'retiring' || step.old !== id;
}

function getValidity({ authorities }: AuthorityState, id: string): number {
  return authorities.find((one) => one.id === id)?.longestValidity ?? 0;
}
