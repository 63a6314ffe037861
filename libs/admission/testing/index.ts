/** Test support of this lib: internals that tests and benchmarks elsewhere import. Production code does not import it. */
export { decodeDocument } from '../src/document/decode-document';
export { checkPrecondition } from '../src/requests';
export { identityNamed } from '../src/resolve-name';
