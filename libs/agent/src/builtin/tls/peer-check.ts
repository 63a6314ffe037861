import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { NOBODY, type VerifiedCaller } from '../decode/verified-caller';
import type { TlsContextSettings } from '../decode/tls-settings';
import { hasName, findSpiffeIds, listUris } from './certificate-names';

/** Maximum number of certificates between a workload's and its authority's. */
const MAX_INTERMEDIATES = 4;

/** Authorities by trust domain. */
export type TrustDomains = ReadonlyMap<string, readonly X509Certificate[]>;

/**
 * Result of verifying the peer: its SPIFFE ids and its subject, if any; or why it is not trusted, by the name of
 * Envoy's counter.
 */
export type PeerCheckResult =
  | ({ readonly ok: true } & VerifiedCaller)
  | { readonly ok: false; readonly counter: PeerFailure; readonly reason: string };

/** Envoy's counters of refused certificates. */
export type PeerFailure = 'fail_verify_no_cert' | 'fail_verify_error' | 'fail_verify_san';

/**
 * Verifies the peer of a finished handshake. Node has verified its chain against all authorities of the context; in a
 * mesh only those of the trust domain in its SPIFFE id count, so that no domain can impersonate another. `now` is ms
 * since 1970.
 */
export function checkPeer(
  socket: TLSSocket,
  { belief, names }: Pick<TlsContextSettings, 'belief' | 'names'>,
  domains: TrustDomains | undefined,
  now: number,
): PeerCheckResult {
  if (belief.type === 'anybody') return { ok: true, ...NOBODY };
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return refused('fail_verify_no_cert', 'it shows no certificate');
  if (!socket.authorized && !isAnchoredBelow(socket, belief))
    return refused('fail_verify_error', `its certificate is not believed: ${formatReason(socket)}`);
  let ids: readonly string[] = [];
  if (belief.type === 'secret') {
    const spiffe = findSpiffeIds(listUris(certificate));
    if (!spiffe) return refused('fail_verify_error', 'its certificate has no SPIFFE id of one trust domain');
    const authorities = domains?.get(spiffe.trustDomain);
    if (!authorities || certificate.ca || !isVouchedFor(certificate, authorities, now))
      return refused('fail_verify_error', `no authority of ${spiffe.trustDomain} vouches for it`);
    ids = spiffe.ids;
  }
  if (!hasName(certificate, names)) return refused('fail_verify_san', 'its certificate has none of the expected names');
  return { ok: true, ids, subject: certificate.subject ?? '' };
}

/**
 * Whether OpenSSL misses only the issuer of an authority that is trusted itself: Node's TLS server has no option to
 * accept that. Whether such an authority signed the certificate is checked afterwards.
 */
function isAnchoredBelow(socket: TLSSocket, belief: TlsContextSettings['belief']): boolean {
  return belief.type === 'secret' && formatReason(socket) === 'UNABLE_TO_GET_ISSUER_CERT';
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
 * Whether one of these authorities vouches for a certificate: it has signed it, or a certificate of an authority in between. OpenSSL
 * verifies a chain against all authorities together; this holds it against those of one trust domain. Each link is signed by the next
 * one, is valid `now` (ms since 1970), and the one that signs is an authority. What else OpenSSL knows of chains it has checked.
 */
export function isVouchedFor(
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
