/** Test support of this lib: internals that tests and benchmarks elsewhere import. Production code does not import it. */
export { identityPathState } from '../src/identity-paths';
export { computeAuthorityId } from '../src/x509';
export type { WorkloadKey } from '../src/workload-key';
