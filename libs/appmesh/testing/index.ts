/** Test support of this lib: what tests and benchmarks elsewhere import of its inside. Nothing that ships imports it. */
export type { ReachableFrontends, SourceKind } from '../src/model';
