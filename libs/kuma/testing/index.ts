/** Test support of this lib: internals that tests and benchmarks of other libs import. Production code does not import it. */
export { meshHttpRouteId } from '../src/routes/plan-mesh-http-route';
export { kumaPolicyId } from '../src/policies/plan-kuma-policy';
