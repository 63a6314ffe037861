/** Test support of this lib: what tests and benchmarks elsewhere import of its inside. Nothing that ships imports it. */
export { apiGroups, isOfGroup } from '../src/kind/api-groups';
export type { Writer } from '../src/kind/kind';
export type { SyncRule } from '../src/kind/sync-rule';
