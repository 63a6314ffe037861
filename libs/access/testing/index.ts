/** What tests and benchmarks outside of this lib need of its inside. Nothing that ships imports it. */
export { authorityText, createAuthority, createServerCertificate } from '../src/certificate-authority';
export { operator } from '../src/authorization/caller';
export type { TokenVerifier } from '../src/authentication/authenticator';
export type { CallerRateSettings } from '../src/authentication/caller-rates';
