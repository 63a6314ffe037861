/** Authentication and authorisation of users and zones (libs/access/README.md). */
export { createZoneTokenService, type ZoneTokenService } from './zones/zone-token-service';
export { type IssuedZoneToken, zoneTokenFacts, type ZoneTokenRequest, zoneTokenViolations } from './zones/zone-token';
export { type IssuedZoneInvite, type ZoneInviteRequest } from './zones/zone-invites';
export { createZoneProxyTokens, type ZoneProxyTokens } from './zones/zone-proxy-tokens';
export {
  createDataplaneTokens,
  dataplaneTokenViolations,
  type DataplaneTokenRequest,
  type DataplaneTokens,
  type IssuedDataplaneToken,
} from './dataplanes/dataplane-tokens';
export { type DataplaneClaims } from './dataplanes/dataplane-token';
export { type IssuedToken, type ListedToken } from './tokens/token-issuer';
export { parseValidity } from './tokens/validity';
export { AUTHORITY_SECRET, type CertifiedKey } from './certificate-authority';
export { SelfIssuedCertificates, sharedAuthority, type ServerCertificates } from './server-certificates';
export { AccessMonitor, type MonitoredResponse } from './authentication/access-monitor';
export { AccessDenied } from './authorization/access-denied';
export { AccessPolicy, type AccessDecision, type HeldRole } from './authorization/access-policy';
export { CallerRights } from './authorization/caller-rights';
export { ADMINS, anonymous, AUTHENTICATED, localAdmin, type Caller } from './authorization/caller';
export { activities, toAccessTarget, type AccessTarget, type Verb } from './authorization/grants';
export { Authenticator } from './authentication/authenticator';
export { CallerRates, RateLimited } from './authentication/caller-rates';
export { isLoopback } from './authentication/loopback';
export { StayReview } from './authentication/stay-review';
export { Unauthenticated } from './unauthenticated';
export { AuditRecorder, toAuditSource, refusalReason, type CallerOrigin } from './audit/audit-recorder';
export { createAuthentication, type Authentication } from './authentication/authentication';
export { type IssuedUserToken, type UserTokenRequest, userTokenViolations } from './authentication/user-token';
