import { compareText } from '@causeway/resources';
import type { VirtualSource } from '../model';

/**
 * Returns a number below 0 if `a` ranks before `b` for the same name. Sources of the global rank first, because zones
 * do not see each other's: so all zones see the same winner. Then by age, ties by namespace and name, then by zone.
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

/** Whether both are visible in one zone: sources of the global are visible in each. */
export const areVisibleTogether = (a: string, b: string): boolean => a === b || a === '' || b === '';
