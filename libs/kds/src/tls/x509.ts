import { createPrivateKey, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import type * as X509 from '@peculiar/x509';

const CURVE = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY = 24 * 3_600_000;
const AUTHORITY_VALIDITY = 3_650 * DAY;
/** How long a certificate of a replica is valid, ms; it is made anew well before. */
export const SERVER_VALIDITY = 90 * DAY;
/** Certificates are valid from before now: clocks differ. */
const BACKDATED = DAY;

/** A certificate and its key, both in PEM. */
export interface CertifiedKey {
  readonly certificate: string;
  readonly privateKey: string;
}

/** For whom a certificate is made, and when (ms since 1970). */
export interface CertificateSubject {
  /** Host names and addresses that it is for. */
  readonly names: readonly string[];
  readonly now: number;
}

/** Loaded when a certificate is first made: it takes longer than the rest of a start. */
async function library(): Promise<typeof X509> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  return x509;
}

/** A certificate authority of its own, for 10 years, that may sign servers and nothing else. */
export async function createAuthority(now: number): Promise<CertifiedKey> {
  const x509 = await library();
  const keys = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=Causeway zones, O=Causeway',
    ...validity(now, AUTHORITY_VALIDITY),
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

/** A certificate of a server under these names, signed by the authority. */
export async function createServerCertificate(
  authority: CertifiedKey,
  subject: CertificateSubject,
): Promise<CertifiedKey> {
  const x509 = await library();
  const issuer = new x509.X509Certificate(authority.certificate);
  const keys = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const names = subject.names.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value }));
  const certificate = await x509.X509CertificateGenerator.create({
    subject: 'CN=Causeway global, O=Causeway',
    issuer: issuer.subject,
    ...validity(subject.now, SERVER_VALIDITY),
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

function validity(now: number, life: number): { readonly notBefore: Date; readonly notAfter: Date } {
  return { notBefore: new Date(now - BACKDATED), notAfter: new Date(now + life) };
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
