/** Test support of this lib: internals that tests and benchmarks elsewhere import. Production code does not import it. */
export { mayCall } from '../src/access/access-rules';
export { type DefinitionSpec } from '../src/model/definition';
export { type StoredPolicy } from '../src/model/policy';
