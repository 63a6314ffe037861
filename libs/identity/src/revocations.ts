import { WorkloadRevocation } from '@causeway/kinds';
import type { IndexReader } from '@causeway/store';

type Revocations = Pick<IndexReader, 'ofKind'>;

/**
 * The SPIFFE ids of a mesh whose enrolments have ended in some zone and that nobody else has, sorted. Linear in the revocations, which go
 * when their certificates have ended.
 */
export function revokedIds(index: Revocations, mesh: string): readonly string[] {
  const found = new Set<string>();
  for (const one of index.ofKind(WorkloadRevocation.name))
    if (one.id.mesh === mesh && WorkloadRevocation.is(one))
      for (const { spiffeId } of one.spec.ended) if (spiffeId !== undefined) found.add(spiffeId);
  return [...found].sort();
}
