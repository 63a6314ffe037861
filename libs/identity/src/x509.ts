import { createHash, createPrivateKey, createPublicKey, webcrypto, X509Certificate, type KeyObject } from 'node:crypto';
import type * as X509 from '@peculiar/x509';
import { FieldPath, type Violation } from '@causeway/resources';
import { errorText } from '@causeway/runtime';

export const CURVE = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY = 24 * 3_600_000;
/** Validity of a zone's authority, ms. */
const AUTHORITY_VALIDITY = 3_650 * DAY;
/** Certificates are valid from this long before now, because clocks differ, ms. */
export const BACKDATED = 5 * 60_000;
/** Length of a key id, hexadecimal digits: 160 bits. */
const KEY_ID_LENGTH = 40;
/** Maximum length of a CSR, characters of PEM. */
const MAX_CSR_LENGTH = 8_192;

/** Certificate and its private key, both PEM. */
export interface AuthorityPair {
  readonly certificate: string;
  readonly privateKey: string;
}

/** Certificate to sign: its key, id and end (ms since 1970). */
export interface CertificateTemplate {
  readonly uri: string;
  /** Further URIs, as in certificates of Kuma's `Mesh.mtls`. */
  readonly otherUris?: readonly string[];
  /** Enrolment, written as the subject; it does not identify the workload. */
  readonly enrolment?: string;
  /** DER, SubjectPublicKeyInfo. */
  readonly publicKey: Buffer;
  readonly now: number;
  readonly notAfter: number;
}

/** The public key of a CSR, or the fault of the CSR. */
export type CheckedCsr =
  { readonly ok: true; readonly publicKey: Buffer } | { readonly ok: false; readonly violation: Violation };

/** Loads the library with the first certificate: loading takes longer than the rest of the start. */
export async function loadLibrary(): Promise<typeof X509> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  return x509;
}

/** Creates a self-signed authority of a zone, valid for 10 years, that may sign leaf certificates only. */
export function createZoneAuthority(zone: string, now: number): Promise<AuthorityPair> {
  return createAuthority({ name: `CN=Causeway workload authority, OU=${zone}, O=Causeway`, now });
}

/**
 * Creates a self-signed authority of a whole mesh in the form of Kuma's `builtin` (docs/reference/kuma-interop.md): its
 * URI is the trust domain, the name of the mesh.
 */
export function createMeshAuthority(mesh: string, now: number): Promise<AuthorityPair> {
  return createAuthority({ name: `CN=${mesh}, OU=Mesh, O=Causeway`, uri: `spiffe://${mesh}`, now });
}

interface AuthoritySketch {
  readonly name: string;
  readonly uri?: string;
  readonly now: number;
}

async function createAuthority({ name, uri, now }: AuthoritySketch): Promise<AuthorityPair> {
  const x509 = await loadLibrary();
  const keys = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name,
    notBefore: new Date(now - BACKDATED),
    notAfter: new Date(now + AUTHORITY_VALIDITY),
    keys,
    signingAlgorithm: CURVE,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ...(uri === undefined ? [] : [new x509.SubjectAlternativeNameExtension([{ type: 'url', value: uri }])]),
    ],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return {
    certificate: `${certificate.toString('pem').trim()}\n`,
    privateKey: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Parsed key pair of an authority, cached: parsing takes longer than a signature. */
interface OpenedAuthority {
  readonly subject: X509.Name;
  readonly notAfter: number;
  readonly key: webcrypto.CryptoKey;
  readonly algorithm: ReturnType<typeof signingAlgorithm>;
  /** Extensions of all its certificates. */
  readonly extensions: readonly X509.Extension[];
}

const openedAuthorities = new WeakMap<AuthorityPair, Promise<OpenedAuthority>>();

async function openAuthority(authority: AuthorityPair): Promise<OpenedAuthority> {
  const x509 = await loadLibrary();
  const certificate = new x509.X509Certificate(authority.certificate);
  const privateKey = createPrivateKey(authority.privateKey);
  const algorithm = signingAlgorithm(privateKey);
  const der = privateKey.export({ type: 'pkcs8', format: 'der' });
  const key = await webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
  return {
    key,
    algorithm,
    subject: certificate.subjectName,
    notAfter: certificate.notAfter.getTime(),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
      await authorityKeyId(x509, certificate),
    ],
  };
}

/**
 * Signs a leaf certificate (PEM) by X.509-SVID §3 and §4: no subject but its enrolment, one URI unless others are
 * ordered, no CA, for both ends of a connection. It ends with the authority at the latest. The authority is parsed once
 * per `authority` object. Rejects if its key type cannot sign here.
 */
export async function signCertificate(authority: AuthorityPair, order: CertificateTemplate): Promise<string> {
  const x509 = await loadLibrary();
  const opened = openedAuthorities.get(authority) ?? openAuthority(authority);
  openedAuthorities.set(authority, opened);
  const { subject: issuer, key: signingKey, algorithm: signingAlgorithm, notAfter, extensions } = await opened;
  const uris = [order.uri, ...(order.otherUris ?? [])];
  const certificate = await x509.X509CertificateGenerator.create({
    issuer,
    ...(order.enrolment !== undefined && { subject: `CN=${order.enrolment}` }),
    notBefore: new Date(order.now - BACKDATED),
    notAfter: new Date(Math.min(order.notAfter, notAfter)),
    publicKey: order.publicKey,
    signingKey,
    signingAlgorithm,
    extensions: [
      ...extensions,
      // Critical also if there is a subject, which is empty (RFC 5280 §4.2.1.6).
      new x509.SubjectAlternativeNameExtension(
        uris.map((value) => ({ type: 'url' as const, value })),
        true,
      ),
      new x509.SubjectKeyIdentifierExtension(computeKeyId(order.publicKey)),
    ],
  });
  return `${certificate.toString('pem').trim()}\n`;
}

/** Computes the id by RFC 7093 §2, method 4: a hash of the whole SubjectPublicKeyInfo, without parsing it. */
function computeKeyId(publicKey: Buffer): string {
  return createHash('sha256').update(publicKey).digest('hex').slice(0, KEY_ID_LENGTH);
}

/** Returns the key id in the authority's certificate, since there are several ways to compute one. */
async function authorityKeyId(
  { AuthorityKeyIdentifierExtension, SubjectKeyIdentifierExtension }: typeof X509,
  issuer: X509.X509Certificate,
): Promise<X509.AuthorityKeyIdentifierExtension> {
  const given = issuer.getExtension(SubjectKeyIdentifierExtension);
  return given
    ? new AuthorityKeyIdentifierExtension(given.keyId)
    : AuthorityKeyIdentifierExtension.create(issuer.publicKey);
}

/** Kuma's authorities have RSA keys, ours ECDSA ones. */
function signingAlgorithm({ asymmetricKeyType: type, asymmetricKeyDetails }: KeyObject) {
  if (type === 'rsa') return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const;
  const curve = asymmetricKeyDetails?.namedCurve;
  if (type === 'ec' && curve === 'prime256v1') return CURVE;
  if (type === 'ec' && curve === 'secp384r1') return { ...CURVE, namedCurve: 'P-384', hash: 'SHA-384' } as const;
  throw new TypeError(`an authority must have an RSA key or an ECDSA key of P-256 or P-384; got ${type ?? 'none'}`);
}

/** Checks a CSR (PEM): one block, an ECDSA P-256 key, signed with that key. Its subject and names are ignored. */
export async function checkCsr(pem: string): Promise<CheckedCsr> {
  const refuse = (reason: string, rule: Violation['rule'] = 'wrong-form'): CheckedCsr => ({
    ok: false,
    violation: FieldPath.at('csr').violation(reason, rule),
  });
  if (pem.length > MAX_CSR_LENGTH)
    return refuse(`must have at most ${MAX_CSR_LENGTH} characters, has ${pem.length}`, 'too-long');
  const block =
    /^\s*-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END (?:NEW )?CERTIFICATE REQUEST-----\s*$/;
  const body = block.exec(pem)?.[1];
  if (body === undefined) return refuse('must be one PEM block CERTIFICATE REQUEST and nothing else');
  try {
    const x509 = await loadLibrary();
    const csr = new x509.Pkcs10CertificateRequest(Buffer.from(body, 'base64'));
    const publicKey = Buffer.from(csr.publicKey.rawData);
    const { asymmetricKeyType: type, asymmetricKeyDetails } = createPublicKey({
      key: publicKey,
      format: 'der',
      type: 'spki',
    });
    const curve = asymmetricKeyDetails?.namedCurve;
    if (type !== 'ec' || curve !== 'prime256v1')
      return refuse(
        `must have an ECDSA key of the curve P-256; got ${type ?? 'an unknown key'} ${curve ?? ''}`.trim(),
        'not-allowed',
      );
    return (await csr.verify())
      ? { ok: true, publicKey }
      : refuse('must be signed with its own key; the signature does not fit');
  } catch (error) {
    return refuse(`cannot be read: ${errorText(error)}`);
  }
}

/** Returns the id of an authority: the first 128 bits of the SHA-256 of its certificate's DER, hexadecimal. */
export function computeAuthorityId(certificate: string): string {
  return createHash('sha256').update(new X509Certificate(certificate).raw).digest('hex').slice(0, 32);
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Splits PEM text into certificates without parsing them. Linear in the text. */
export function splitCertificates(pem: string): readonly string[] {
  return pem.match(CERTIFICATE) ?? [];
}

/** Returns the ids of the authorities in a PEM bundle; skips invalid certificates. */
export function listAuthorityIds(bundle: string): readonly string[] {
  return splitCertificates(bundle).flatMap((certificate) => {
    try {
      return [computeAuthorityId(certificate)];
    } catch {
      return [];
    }
  });
}
