/** Test support of this lib: internals that tests and benchmarks elsewhere import. Production code does not import it. */
export { evaluate, type Decision } from '../src/requests/evaluate';
export { type HttpRequest } from '../src/rules/request';
