import { IDENTITY_PATH_STATE, IdentityPath, IdentityPathState, type IdentityPathStateSpec } from '@causeway/kinds';
import type { SpiffePathForm } from '@causeway/naming';
import type { ChangingIds } from '@causeway/policies';
import type { Identity } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import type { PresetPath } from './workload-id';

/** Mesh in one zone. */
export interface MeshInZone {
  readonly mesh: string;
  readonly zone: string;
}

/** Returns the id of a zone's IdentityPathState of a mesh. */
export function identityPathStateId({ mesh, zone }: MeshInZone): Identity {
  return { kind: IdentityPathState.name, mesh, zone, namespace: '', name: IDENTITY_PATH_STATE };
}

/** Returns a zone's IdentityPathState of a mesh; undefined if it has none. */
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

/** Returns the forms of a state. */
export function presetPath(state: Pick<IdentityPathStateSpec, 'signs' | 'step'> | undefined): PresetPath {
  const signs = state?.signs ?? 'Workload';
  return { signs, accepts: state?.step ? [signs, otherForm(signs)] : [signs] };
}

/** Returns the form that a mesh should have: namespaced if an IdentityPath requests it. Linear in those. */
export function findWantedForm(index: Pick<IndexReader, 'ofKind'>, mesh: string): SpiffePathForm {
  for (const one of index.ofKind(IdentityPath.name))
    if (one.id.mesh === mesh && IdentityPath.is(one)) return 'Namespaced';
  return 'Workload';
}

/** Step of a mesh's change of form. */
export type PathStep = Pick<IdentityPathStateSpec, 'signs' | 'step' | 'until'>;

/** Facts that decide the next step. */
export interface StepFacts {
  readonly wanted: SpiffePathForm;
  readonly now: number;
  /** Time for which the other form is announced before certificates are signed for it, ms. */
  readonly announced: number;
  /** Time after which no earlier certificate is valid, ms. */
  readonly ended: number;
  /** Whether every replica of the zone knows both forms; undefined if unknown. */
  readonly areReplicasReady: boolean | undefined;
  /** Whether a peer that must know the other form first cannot receive it now. */
  readonly isHeld: boolean;
  /** Whether there are Dataplanes whose ids change. */
  readonly isConcerned: boolean;
}

/** Interval at which is recorded that older replicas may still sign certificates in the old form, ms. */
const RECORD_INTERVAL = 60_000;

/**
 * Returns the next step, or the same one if none is due: first other zones learn the ids in the other form, then
 * certificates are signed for it, and when the last earlier one has ended, only the new form is trusted. A mesh without
 * affected Dataplanes goes through all steps at once.
 */
export function computeNextStep(before: PathStep, facts: StepFacts): PathStep {
  const { wanted, now, announced, ended, areReplicasReady, isHeld, isConcerned } = facts;
  const { signs, step, until = 0 } = before;
  if (areReplicasReady === undefined) return before;
  if (!areReplicasReady) {
    // An older replica signs for the workload form only.
    const isNoted = step === 'Retiring' && until >= now + ended - RECORD_INTERVAL;
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

/** Returns zones in which the form of ids changes; `domainsOf`: a zone's trust domains. Linear in the states. */
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
