import { createPrivateKey, X509Certificate } from 'node:crypto';
import { errorText } from '@causeway/runtime';
import type { Resource } from '@causeway/resources';
import { secretText } from '../auth/secret-text';
import type { CertifiedKey } from './x509';

/** The GlobalSecret that holds the certificate authority of all replicas; it never leaves the global (ADR 3). */
export const AUTHORITY_SECRET = 'kds-tls-authority';

/** A secret read as an authority, or why it is none. The reason never repeats the value. */
export type ParsedAuthority =
  { readonly ok: true; readonly authority: CertifiedKey } | { readonly ok: false; readonly reason: string };

/** How an authority stands in its secret: both PEM blocks, one after the other. */
export function authorityText({ certificate, privateKey }: CertifiedKey): string {
  return `${certificate.trim()}\n${privateKey.trim()}\n`;
}

/** Reads and checks an authority; `now` is ms since 1970. */
export function parseAuthority(secret: Resource, now: number): ParsedAuthority {
  const text = secretText(secret);
  const certificate = block(text, 'CERTIFICATE');
  const privateKey = block(text, '(?:EC )?PRIVATE KEY');
  if (certificate === undefined || privateKey === undefined) {
    return { ok: false, reason: 'it must hold a certificate and its private key, both in PEM' };
  }
  try {
    const reason = fault(new X509Certificate(certificate), privateKey, now);
    return reason === undefined ? { ok: true, authority: { certificate, privateKey } } : { ok: false, reason };
  } catch (error) {
    return { ok: false, reason: `it cannot be read: ${errorText(error)}` };
  }
}

function fault(certificate: X509Certificate, pem: string, now: number): string | undefined {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return 'its key must be an EC key of the curve P-256';
  if (!certificate.checkPrivateKey(key)) return 'its key is not that of its certificate';
  if (!certificate.ca) return 'its certificate is not that of an authority (CA)';
  return Date.parse(certificate.validTo) <= now ? `its certificate ended on ${certificate.validTo}` : undefined;
}

function block(text: string, label: string): string | undefined {
  return new RegExp(`-----BEGIN ${label}-----[^-]+-----END ${label}-----`).exec(text)?.[0];
}
