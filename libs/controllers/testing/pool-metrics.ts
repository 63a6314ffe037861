import type { PoolMetrics } from '@causeway/ipam';
import type { ControlLoop } from '@causeway/loops';
import { poolReports } from '../src/zone-reconcilers';

/** Returns the usage of the zone's address ranges at `now` (ms of the store's clock), by kind. Empty without a vip loop. */
export function poolMetrics(loops: readonly ControlLoop[], now: number): Readonly<Record<string, PoolMetrics>> {
  const shared = poolReports(loops, now).filter(({ mesh }) => mesh === undefined);
  return Object.fromEntries(shared.map(({ kind, size, used, cooling }) => [kind, { size, used, cooling }]));
}
