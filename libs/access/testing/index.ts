/** Test support of this lib: what tests and benchmarks elsewhere import of its inside. Nothing that ships imports it. */
export { authorityText, createAuthority, createServerCertificate } from '../src/certificate-authority';
export { operator } from '../src/authorization/caller';
export type { TokenVerifier } from '../src/authentication/authenticator';
export type { CallerRateSettings } from '../src/authentication/caller-rates';
