/** What tests and benchmarks outside of this lib need of its inside. Nothing that ships imports it. */
export { decodeDocument } from '../src/document/decode-document';
export { checkPrecondition } from '../src/requests';
export { identityNamed } from '../src/resolve-name';
