/**
 * Test support of this lib: internals that tests and benchmarks of other libs import. Production code does not import it.
 */
export { authorityText, createAuthority, createServerCertificate } from '../src/certificate-authority';
export { operator } from '../src/authorization/caller';
export type { TokenVerifier } from '../src/authentication/authenticator';
export type { CallerRateSettings } from '../src/authentication/caller-rates';
