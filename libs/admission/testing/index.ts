/** Test support of this lib: what tests and benchmarks elsewhere import of its inside. Nothing that ships imports it. */
export { decodeDocument } from '../src/document/decode-document';
export { checkPrecondition } from '../src/requests';
export { identityNamed } from '../src/resolve-name';
