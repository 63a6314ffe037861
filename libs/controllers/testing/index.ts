/** Test support of this lib: internals that tests and benchmarks elsewhere import. Production code does not import it. */
export { planAvailability } from '../src/availability/plan-availability';
export { poolMetrics } from './pool-metrics';
export type { ZoneReconcilersConfig } from '../src/zone-reconcilers';
export { HostnameReconciler } from '../src/hostname/hostname-reconciler';
export type { ProgressSource } from '../src/progress/apply-progress';
