import { computeZoneDomains } from '@causeway/identity';
import { WorkloadRevocation } from '@causeway/kinds';
import { compareText } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';

/** An enrolment whose certificates are no longer accepted; they carry its uid as their subject. */
export interface EndedEnrolment {
  readonly enrolment: string;
  /** The trust domains in which the zone that ended the enrolment may sign; undefined: this zone ended it and signed the certificates itself. */
  readonly domains: readonly string[] | undefined;
}

/**
 * Returns the enrolments of a mesh, of any zone, that ended while their certificates are still valid; sorted. A zone can end certificates of its own
 * trust domains only. Linear in the revocations, which are deleted when their certificates expire.
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
