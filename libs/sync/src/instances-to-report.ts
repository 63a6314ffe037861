/** Maximum number of instances reported for a service. */
const MAX_INSTANCES = 100_000;
/** The reported number may differ from the true one by an eighth. */
const TOLERANCE = 8;

/**
 * Returns `spec.instances` of a MeshService: the number of healthy instances for other zones, which determines its
 * zone's share of the traffic of a MeshMultiZoneService. Absent for at most one. Every change is a write in each zone,
 * so `before` stays while it is right within an eighth: of 100 instances 12 may come and go.
 */
export function instancesToReport(before: unknown, healthy: number): number | undefined {
  const now = Math.min(healthy, MAX_INSTANCES);
  if (!(now > 1)) return undefined;
  const isRight = typeof before === 'number' && Math.abs(now - before) * TOLERANCE <= before;
  return isRight ? before : now;
}
