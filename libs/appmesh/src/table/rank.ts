import { compareText } from '@causeway/resources';
import type { VirtualSource } from '../model';

/**
 * Below 0 where `a` ranks before `b` among those that want one name. What was made on the global ranks first, because zones do
 * not see each other's: so all see the same winner. Then by age, ties by namespace and name, then by zone.
 */
export function compareRanks(a: VirtualSource, b: VirtualSource): number {
  return (
    Number(a.id.zone !== '') - Number(b.id.zone !== '') ||
    computeOrder(a) - computeOrder(b) ||
    compareText(`${a.id.namespace}/${a.id.name}`, `${b.id.namespace}/${b.id.name}`) ||
    compareText(a.id.zone, b.id.zone)
  );
}

const computeOrder = ({ creationOrder }: VirtualSource): number => creationOrder || Number.MAX_SAFE_INTEGER;

/** Whether both are seen in one zone: what is made on the global is seen in each. */
export const meet = (a: string, b: string): boolean => a === b || a === '' || b === '';
