/** Test support of this lib: what tests and benchmarks elsewhere import of its inside. Nothing that ships imports it. */
export { readLostRule } from '../src/lost-zone';
