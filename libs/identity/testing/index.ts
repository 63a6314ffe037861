/** What tests and benchmarks outside of this lib need of its inside. Nothing that ships imports it. */
export { identityPathState } from '../src/identity-paths';
export { authorityIdOf } from '../src/x509';
export type { WorkloadKey } from '../src/workload-key';
