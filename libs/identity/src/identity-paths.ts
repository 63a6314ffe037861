import { IDENTITY_PATH_STATE, IdentityPath, IdentityPathState, type IdentityPathStateSpec } from '@causeway/kinds';
import type { SpiffePathForm } from '@causeway/naming';
import type { ChangingIds } from '@causeway/policies';
import type { Identity } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import type { PresetPath } from './workload-id';

/** A mesh in one zone. */
export interface MeshInZone {
  readonly mesh: string;
  readonly zone: string;
}

/** Returns the identity of a zone's state of the SPIFFE ids of a mesh. */
export function identityPathStateId({ mesh, zone }: MeshInZone): Identity {
  return { kind: IdentityPathState.name, mesh, zone, namespace: '', name: IDENTITY_PATH_STATE };
}

/** Returns a zone's state of the SPIFFE ids of a mesh; undefined if it has none. */
export function identityPathState(
  index: Pick<IndexReader, 'get'>,
  place: MeshInZone,
): IdentityPathStateSpec | undefined {
  const state = index.get(identityPathStateId(place));
  return state && IdentityPathState.is(state) ? state.spec : undefined;
}

/** Returns the forms in which a zone issues ids in a mesh for MeshIdentities without a path. */
export function readPresetPath(index: Pick<IndexReader, 'get'>, place: MeshInZone): PresetPath {
  return presetPath(identityPathState(index, place));
}

/** The same of a state. */
export function presetPath(state: Pick<IdentityPathStateSpec, 'signs' | 'step'> | undefined): PresetPath {
  const signs = state?.signs ?? 'Workload';
  return { signs, accepts: state?.step ? [signs, otherForm(signs)] : [signs] };
}

/** Returns the form that a mesh is to have: namespaced if an IdentityPath says so. Linear in those. */
export function wantedForm(index: Pick<IndexReader, 'ofKind'>, mesh: string): SpiffePathForm {
  for (const one of index.ofKind(IdentityPath.name))
    if (one.id.mesh === mesh && IdentityPath.is(one)) return 'Namespaced';
  return 'Workload';
}

/** The step in which a mesh is, of a state. */
export type PathStep = Pick<IdentityPathStateSpec, 'signs' | 'step' | 'until'>;

/** Facts that decide about the next step. */
export interface StepFacts {
  readonly wanted: SpiffePathForm;
  readonly now: number;
  /** Time for which the other form is announced before certificates are signed for it, ms. */
  readonly announced: number;
  /** Time after which no earlier certificate is valid, ms. */
  readonly ended: number;
  /** Whether every replica of the zone knows both forms; undefined while that is not known. */
  readonly areReplicasReady: boolean | undefined;
  /** Whether a peer cannot receive the other form now that must know it before certificates are signed for it. */
  readonly isHeld: boolean;
  /** Whether there are Dataplanes whose ids change. */
  readonly isConcerned: boolean;
}

/** A replica that knows no forms may have signed certificates up to now: how often that is written down at the most, ms. */
const NOTED_EVERY = 60_000;

/**
 * Returns the step that follows now: first other zones learn the ids in the other form, then certificates are signed
 * for it, and when the last earlier one has ended, only the new form is trusted. A mesh without affected Dataplanes
 * goes through in one moment. Returns the same step if nothing follows.
 */
export function nextStep(before: PathStep, facts: StepFacts): PathStep {
  const { wanted, now, announced, ended, areReplicasReady, isHeld, isConcerned } = facts;
  const { signs, step, until = 0 } = before;
  if (areReplicasReady === undefined) return before;
  if (!areReplicasReady) {
    // An older replica signs for the workload alone, whatever holds.
    const isNoted = step === 'Retiring' && until >= now + ended - NOTED_EVERY;
    return signs === 'Workload' || isNoted ? before : { signs, step: 'Retiring', until: now + ended };
  }
  if (step === undefined) return wanted === signs ? before : { signs, step: 'Announcing', until: now + announced };
  const isOver = !isConcerned || (!isHeld && now >= until);
  if (step === 'Announcing') {
    if (wanted === signs) return { signs };
    return isOver ? { signs: wanted, step: 'Retiring', until: now + ended } : before;
  }
  if (wanted !== signs) return { signs: wanted, step: 'Retiring', until: now + ended };
  return isOver ? { signs } : before;
}

/** The zones in which the form of ids of a mesh changes; `domainsOf` gives the trust domains that are a zone's. Linear in the states. */
export function changingIds(
  index: Pick<IndexReader, 'ofKind'>,
  mesh: string,
  listDomains: (zone: string) => readonly string[],
): readonly ChangingIds[] {
  return [...index.ofKind(IdentityPathState.name)].flatMap((state) => {
    if (state.id.mesh !== mesh || !IdentityPathState.is(state) || state.spec.step === undefined) return [];
    return [{ domains: listDomains(state.id.zone), namespaces: state.spec.namespaces ?? [] }];
  });
}

function otherForm(form: SpiffePathForm): SpiffePathForm {
  return form === 'Workload' ? 'Namespaced' : 'Workload';
}
