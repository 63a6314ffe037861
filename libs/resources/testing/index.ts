/** Test support of this lib: internals that tests and benchmarks elsewhere import. Production code does not import it. */
export { apiGroups, isOfGroup } from '../src/kind/api-groups';
export type { Writer } from '../src/kind/kind';
export type { SyncRule } from '../src/kind/sync-rule';
