/** Test support of this lib: what tests and benchmarks elsewhere import of its inside. Nothing that ships imports it. */
export { meshHttpRouteId } from '../src/routes/plan-mesh-http-route';
export { kumaPolicyId } from '../src/policies/plan-kuma-policy';
