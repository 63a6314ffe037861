/** Maximum number of instances that is reported for a service. */
const MAX_INSTANCES = 100_000;
/** The part by which the number that other zones know may differ from the true one: an eighth. */
const TOLERANCE = 8;

/**
 * `spec.instances` of a MeshService: how many healthy instances other zones take it to have, which is the share of its zone in the
 * traffic of a MeshMultiZoneService. Absent where it has one at most. Every change of it is a write in each zone, so it stays
 * (`before`) while it is right to an eighth: of 100 instances 12 may come and go.
 */
export function instancesToReport(before: unknown, healthy: number): number | undefined {
  const now = Math.min(healthy, MAX_INSTANCES);
  if (!(now > 1)) return undefined;
  const isRight = typeof before === 'number' && Math.abs(now - before) * TOLERANCE <= before;
  return isRight ? before : now;
}
