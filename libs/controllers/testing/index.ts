/** Test support of this lib: what tests and benchmarks elsewhere import of its inside. Nothing that ships imports it. */
export { planAvailability } from '../src/availability/plan-availability';
export { poolMetrics } from './pool-metrics';
export type { ZoneReconcilersConfig } from '../src/zone-reconcilers';
export { HostnameReconciler } from '../src/hostname/hostname-reconciler';
export { meshHttpRouteId } from '../src/routes/kuma/plan-mesh-http-route';
export { kumaPolicyId } from '../src/policies/kuma/plan-kuma-policy';
export type { ProgressSource } from '../src/progress/progress';
