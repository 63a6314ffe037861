/** Test support of this lib: what tests and benchmarks elsewhere import of its inside. Nothing that ships imports it. */
export { evaluate, type Decision } from '../src/requests/evaluate';
export { type HttpRequest } from '../src/rules/request';
