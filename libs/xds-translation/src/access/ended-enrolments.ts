import { computeZoneDomains } from '@causeway/identity';
import { WorkloadRevocation } from '@causeway/kinds';
import { compareText } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';

/** An enrolment whose certificates are believed no longer: they have its uid as their subject. */
export interface EndedEnrolment {
  readonly enrolment: string;
  /** The trust domains in which the zone that ended it may speak; undefined: this zone, which signed for itself. */
  readonly domains: readonly string[] | undefined;
}

/**
 * The enrolments of a mesh that have ended while their certificates are valid, in any zone, sorted. A zone ends certificates of its own trust
 * domains only. Linear in the revocations, which go when their certificates have ended.
 */
export function endedEnrolments(
  index: Pick<IndexReader, 'ofKind'>,
  { mesh, zone }: { readonly mesh: string; readonly zone: string },
): readonly EndedEnrolment[] {
  const found = [...index.ofKind(WorkloadRevocation.name)].flatMap((one) => {
    if (one.id.mesh !== mesh || !WorkloadRevocation.is(one)) return [];
    const of = one.id.zone;
    const domains = of === zone ? undefined : computeZoneDomains(index, mesh, { of, here: zone }).possible;
    return one.spec.ended.map(({ enrolment }) => ({ enrolment, domains }));
  });
  return found.sort((a, b) => compareText(a.enrolment, b.enrolment));
}
