/** Test support of this lib: what tests and benchmarks elsewhere import of its inside. Nothing that ships imports it. */
export { mayCall } from '../src/access/access-rules';
export { type DefinitionSpec } from '../src/model/definition';
export { type StoredPolicy } from '../src/model/policy';
