/**
 * Who is a zone, and which certificate the global shows to zones.
 *
 *   GlobalSecrets in the index → TokenTrust (keys, revocations) → ZoneTokenService: authenticates, issues, revokes, rotates
 *   GlobalSecret kds-tls-authority → SelfIssuedCertificates: the server certificate of this replica, renewed in use
 *
 * libs/kds maps `Unauthenticated` to gRPC and makes credentials of `ServerCertificates`; files of the operator are the app's.
 */
export { createZoneTokenService, type ZoneTokenAuthenticator, type ZoneTokenService } from './zone-token-service';
export {
  type IssuedZoneToken,
  type ZoneTokenIssuer,
  type ZoneTokenOptions,
  type ZoneTokenRequest,
} from './zone-token-issuer';
export { Unauthenticated } from './zone-token';
export {
  AUTHORITY_SECRET,
  authorityText,
  createAuthority,
  createServerCertificate,
  type CertifiedKey,
} from './certificate-authority';
export { SelfIssuedCertificates, type ServerCertificates } from './server-certificates';
