import { Dataplane, serviceAddressViolations } from '@causeway/kinds';
import { FieldPath, Invalid, Label, type Resource } from '@causeway/resources';
import type { WriteContext } from './rights';
import type { ValidatedDraft } from './validate-draft';

/**
 * Throws Invalid if a Dataplane without an agent has an inbound that forwards to another host. If an agent holds the
 * lease, or registers it now, the spec is the agent's, which forwards only to the services of its own file.
 */
export function checkServiceAddresses(
  { id, labels, spec }: Pick<ValidatedDraft, 'id' | 'labels' | 'spec'>,
  stored: Resource | undefined,
  { holdsLease = false }: Pick<WriteContext, 'holdsLease'>,
): void {
  if (id.kind !== Dataplane.name || stored?.labels[Label.leasedBy] !== undefined) return;
  if (holdsLease && labels[Label.leasedBy] !== undefined) return;
  const violations = serviceAddressViolations(spec, FieldPath.at('spec'));
  if (violations.length > 0) throw new Invalid(violations);
}
