import { conditionOf, Label, type Resource } from '@causeway/resources';
import { GENERATOR } from '../services/plan-service';
import { VIP_ALLOCATED } from '../vip/vip-status';

/**
 * Why nobody can reach a service by its names, so that they are shown as NotAvailable though it keeps them; undefined
 * where that is not known. A generated service has instances or it is unreachable, in every zone alike: its state travels.
 * Of a service written by hand nobody knows: what serves it may run without Dataplanes. That an address is still to come
 * is no reason, only that none is left.
 */
export function unreachableReason({ labels, spec, status }: Resource): string | undefined {
  if (labels[Label.managedBy] === GENERATOR && spec['state'] === 'Unavailable')
    return 'unreachable: none of its instances is available';
  if (status === undefined || status['vip'] !== undefined) return undefined;
  const denied = conditionOf(status, VIP_ALLOCATED);
  if (denied?.['status'] !== 'False') return undefined;
  const { message } = denied;
  return `unreachable: it has no virtual IP${typeof message === 'string' ? `, ${message}` : ''}`;
}
