/** Test support of this lib: what tests and benchmarks elsewhere import of its inside. Nothing that ships imports it. */
export { hashName } from '../src/kds-name';
