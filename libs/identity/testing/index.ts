/** Test support of this lib: what tests and benchmarks elsewhere import of its inside. Nothing that ships imports it. */
export { identityPathState } from '../src/identity-paths';
export { computeAuthorityId } from '../src/x509';
export type { WorkloadKey } from '../src/workload-key';
