/** Test support of this lib: internals that tests and benchmarks of other libs import. Production code does not import it. */
export type { ApplyOptions, DeleteOptions } from '../src/api-client';
