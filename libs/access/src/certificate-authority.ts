import { createPrivateKey, webcrypto, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type * as X509 from '@peculiar/x509';
import type { ControlPlane, Resource } from '@causeway/resources';
import { errorText } from '@causeway/runtime';
import { secretText } from './global-secrets';

/**
 * The GlobalSecret with the certificate authority of all replicas; it never leaves the global
 * (docs/adr/0003-authority-in-the-store.md).
 */
export const AUTHORITY_SECRET = 'kds-tls-authority';

/**
 * Returns the name of the GlobalSecret with the authority of a control plane: the global's for zones and REST, a zone's
 * for its REST.
 */
export function authoritySecret(cp: ControlPlane = GLOBAL): string {
  return cp.role === 'global' ? AUTHORITY_SECRET : 'rest-tls-authority';
}

/** A secret parsed as an authority, or why it is none. The reason never repeats the value. */
export type ParsedAuthority =
  { readonly ok: true; readonly authority: CertifiedKey } | { readonly ok: false; readonly reason: string };

const GLOBAL: ControlPlane = { role: 'global' };

const CURVE = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY = 24 * 3_600_000;
const AUTHORITY_VALIDITY = 3_650 * DAY;
/** Validity of a server certificate, ms; it is renewed well before its end. */
export const SERVER_VALIDITY = 90 * DAY;
/** Certificates are valid from this long before now, because clocks differ, ms. */
const BACKDATED = DAY;

/** A certificate and its private key, both in PEM. */
export interface CertifiedKey {
  readonly certificate: string;
  readonly privateKey: string;
}

/** Subject and time of a certificate. `now` is ms since 1970. */
export interface ServerCertificateSubject {
  /** Host names and IP addresses. */
  readonly names: readonly string[];
  readonly now: number;
  /** Control plane of the server; the global by default. */
  readonly cp?: ControlPlane | undefined;
}

/** Loaded with the first certificate: loading takes longer than the rest of the start. */
async function library(): Promise<typeof X509> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  return x509;
}

/** Creates a self-signed authority, valid for 10 years, that may sign server certificates only. */
export async function createAuthority(now: number, cp: ControlPlane = GLOBAL): Promise<CertifiedKey> {
  const x509 = await library();
  const keys = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name:
      cp.role === 'global' ? 'CN=Causeway zones, O=Causeway' : `CN=Causeway zone authority, OU=${cp.zone}, O=Causeway`,
    ...validityPeriod(now, AUTHORITY_VALIDITY),
    keys,
    signingAlgorithm: CURVE,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: certificate.toString('pem'), privateKey: await exported(keys.privateKey) };
}

/** Creates a server certificate for the names of `subject`, signed by the authority. */
export async function createServerCertificate(
  authority: CertifiedKey,
  subject: ServerCertificateSubject,
): Promise<CertifiedKey> {
  const x509 = await library();
  const { cp = GLOBAL } = subject;
  const issuer = new x509.X509Certificate(authority.certificate);
  const keys = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const names = subject.names.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value }));
  const certificate = await x509.X509CertificateGenerator.create({
    subject: cp.role === 'global' ? 'CN=Causeway global, O=Causeway' : `CN=Causeway zone, OU=${cp.zone}, O=Causeway`,
    issuer: issuer.subject,
    ...validityPeriod(subject.now, SERVER_VALIDITY),
    publicKey: keys.publicKey,
    signingKey: await imported(authority.privateKey),
    signingAlgorithm: CURVE,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(names),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { certificate: certificate.toString('pem'), privateKey: await exported(keys.privateKey) };
}

/** Formats the content of the authority secret: both PEM blocks, one after the other. */
export function authorityText({ certificate, privateKey }: CertifiedKey): string {
  return `${certificate.trim()}\n${privateKey.trim()}\n`;
}

/** Parses and checks the authority secret; `now` is ms since 1970. */
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

function validityPeriod(now: number, ms: number): { readonly notBefore: Date; readonly notAfter: Date } {
  return { notBefore: new Date(now - BACKDATED), notAfter: new Date(now + ms) };
}

async function exported(key: webcrypto.CryptoKey): Promise<string> {
  const bytes = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
  const lines = bytes.match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`;
}

function imported(pem: string): Promise<webcrypto.CryptoKey> {
  const bytes = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', bytes, CURVE, false, ['sign']);
}
