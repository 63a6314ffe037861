/**
 * Who users and zones are, what they may do, and which certificate the global shows to zones.
 *
 *   Roles, RoleBindings → AccessPolicy: Caller, verb, target → allowed, and by which binding
 *   signing keys, revocations → TokenTrust → ZoneTokenService: authenticates, issues, revokes, rotates
 *   authority → SelfIssuedCertificates: the server certificate of this replica, renewed while in use
 *
 * Keys, revocations and authority are GlobalSecrets. libs/kds makes gRPC credentials of the certificates; files are the app's.
 */
export { createZoneTokenService, type ZoneTokenService } from './zone-token-service';
export { type IssuedZoneToken, type ZoneTokenRequest } from './zone-token-issuer';
export {
  AUTHORITY_SECRET,
  authorityText,
  createAuthority,
  createServerCertificate,
  type CertifiedKey,
} from './certificate-authority';
export { SelfIssuedCertificates, type ServerCertificates } from './server-certificates';
export { AccessDenied } from './authorization/access-denied';
export { AccessPolicy, type AccessDecision } from './authorization/access-policy';
export { CallerRights } from './authorization/caller-rights';
export { ADMINS, ANONYMOUS, anonymous, AUTHENTICATED, localAdmin, operator, type Caller } from './authorization/caller';
export { activities, targetOf, type AccessTarget, type Verb } from './authorization/grants';
export { Authenticator, type AuthenticatorParts, type TokenVerifier } from './authentication/authenticator';
export { CallerRates, RateLimited, type CallerRateSettings } from './authentication/caller-rates';
export { Unauthenticated } from './authentication/unauthenticated';
export {
  AuditRecorder,
  auditSourceOf,
  refusalReason,
  type AuditRecorderStatus,
  type CallerOrigin,
} from './audit/audit-recorder';
