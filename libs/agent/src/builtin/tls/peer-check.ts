import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { ANONYMOUS_CALLER, type VerifiedCaller } from '../decode/verified-caller';
import type { TlsContextSettings } from '../decode/tls-settings';
import { hasName, findSpiffeIds, listUris } from './certificate-names';

/** Maximum number of intermediate certificates between a workload's and its authority's. */
const MAX_INTERMEDIATES = 4;

/** Authorities by trust domain. */
export type TrustDomains = ReadonlyMap<string, readonly X509Certificate[]>;

/** Verified identity of the peer, or why it is not trusted, with Envoy's counter for that. */
export type PeerCheckResult =
  | ({ readonly ok: true } & VerifiedCaller)
  | { readonly ok: false; readonly counter: PeerFailure; readonly reason: string };

/** Envoy's counters of rejected certificates. */
export type PeerFailure = 'fail_verify_no_cert' | 'fail_verify_error' | 'fail_verify_san';

/**
 * Verifies the peer of a finished handshake. Node has verified its chain against all authorities of the context; in a
 * mesh only those of the trust domain in its SPIFFE id count, so that no domain can impersonate another. `now`: ms
 * since 1970.
 */
export function checkPeer(
  socket: TLSSocket,
  { peerTrust, names }: Pick<TlsContextSettings, 'peerTrust' | 'names'>,
  domains: TrustDomains | undefined,
  now: number,
): PeerCheckResult {
  if (peerTrust.type === 'anybody') return { ok: true, ...ANONYMOUS_CALLER };
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return refused('fail_verify_no_cert', 'it shows no certificate');
  if (!socket.authorized && !lacksOnlyParentIssuer(socket, peerTrust))
    return refused('fail_verify_error', `its certificate is not trusted: ${formatReason(socket)}`);
  let ids: readonly string[] = [];
  if (peerTrust.type === 'secret') {
    const spiffe = findSpiffeIds(listUris(certificate));
    if (!spiffe) return refused('fail_verify_error', 'its certificate has no SPIFFE id of one trust domain');
    const authorities = domains?.get(spiffe.trustDomain);
    if (!authorities || certificate.ca || !isSignedByOneOf(certificate, authorities, now))
      return refused('fail_verify_error', `no authority of ${spiffe.trustDomain} vouches for it`);
    ids = spiffe.ids;
  }
  if (!hasName(certificate, names)) return refused('fail_verify_san', 'its certificate has none of the expected names');
  return { ok: true, ids, subject: certificate.subject ?? '' };
}

/**
 * Returns whether OpenSSL only misses the issuer of a trusted authority, which Node's TLS server has no option to
 * accept. `isSignedByOneOf` then checks that such an authority signed the certificate.
 */
function lacksOnlyParentIssuer(socket: TLSSocket, peerTrust: TlsContextSettings['peerTrust']): boolean {
  return peerTrust.type === 'secret' && formatReason(socket) === 'UNABLE_TO_GET_ISSUER_CERT';
}

function refused(counter: PeerFailure, reason: string): PeerCheckResult {
  return { ok: false, counter, reason };
}

function formatReason({ authorizationError }: TLSSocket): string {
  const error: unknown = authorizationError;
  if (error instanceof Error) return 'code' in error ? String(error.code) : error.message;
  return String(error);
}

/**
 * Returns whether one of these authorities signed a certificate, directly or through intermediates. OpenSSL verifies a
 * chain against all authorities together; this checks those of one trust domain. Each link must be signed by the next,
 * valid at `now` (ms since 1970), and issued by a CA. OpenSSL has checked the rest.
 */
export function isSignedByOneOf(
  certificate: X509Certificate,
  authorities: readonly X509Certificate[],
  now: number,
): boolean {
  let current = certificate;
  for (let n = 0; n <= MAX_INTERMEDIATES; n++) {
    if (!isValidAt(current, now)) return false;
    if (authorities.some((authority) => isValidAt(authority, now) && hasSigned(authority, current))) return true;
    const next = current.issuerCertificate;
    if (!next || next.fingerprint256 === current.fingerprint256 || !hasSigned(next, current)) return false;
    current = next;
  }
  return false;
}

function hasSigned(authority: X509Certificate, certificate: X509Certificate): boolean {
  return authority.ca && certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

function isValidAt({ validFrom, validTo }: X509Certificate, now: number): boolean {
  return Date.parse(validFrom) <= now && now <= Date.parse(validTo);
}
