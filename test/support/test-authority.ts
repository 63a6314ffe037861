import 'reflect-metadata';
import { createPrivateKey, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR = 3_600_000;

/** A certificate chain and its key, both in PEM. */
export interface TestCertificate {
  readonly chain: string;
  readonly key: string;
}

/** Names of a certificate: each is one Subject Alternative Name, but for its subject. */
export interface TestNames {
  readonly subject?: string;
  readonly uri?: string;
  readonly dns?: string;
  readonly ip?: string;
}

/** An authority in memory that signs whatever a test asks for, valid for an hour. */
export class TestAuthority {
  private constructor(
    /** PEM. */
    readonly certificate: string,
    private readonly keys: webcrypto.CryptoKeyPair,
    /** Certificates that follow those that it issues: its own, unless it is a root. */
    private readonly behind = '',
  ) {}

  /** Makes a root; `below` is how many authorities may follow in a chain. */
  static async create(name: string, below = 0): Promise<TestAuthority> {
    x509.cryptoProvider.set(webcrypto);
    const keys = await webcrypto.subtle.generateKey(P256, true, ['sign', 'verify']);
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      name: `CN=${name}`,
      ...validity(),
      keys,
      signingAlgorithm: P256,
      extensions: [
        new x509.BasicConstraintsExtension(true, below, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    return new TestAuthority(`${certificate.toString('pem')}\n`, keys);
  }

  /** An authority in between, which this one has signed. */
  async between(name: string): Promise<TestAuthority> {
    const keys = await webcrypto.subtle.generateKey(P256, true, ['sign', 'verify']);
    const certificate = await x509.X509CertificateGenerator.create({
      subject: `CN=${name}`,
      issuer: new x509.X509Certificate(this.certificate).subject,
      ...validity(),
      publicKey: keys.publicKey,
      signingKey: this.keys.privateKey,
      signingAlgorithm: P256,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
        await x509.AuthorityKeyIdentifierExtension.create(this.keys.publicKey),
      ],
    });
    const own = `${certificate.toString('pem')}\n`;
    return new TestAuthority(own, keys, `${own}${this.behind}`);
  }

  /** `validFor`, ms: below 0 it has expired. */
  async issue({ subject, uri, dns, ip }: TestNames, validFor = HOUR): Promise<TestCertificate> {
    const own = await webcrypto.subtle.generateKey(P256, true, ['sign', 'verify']);
    const names: x509.JsonGeneralName[] = [];
    if (uri !== undefined) names.push({ type: 'url', value: uri });
    if (dns !== undefined) names.push({ type: 'dns', value: dns });
    if (ip !== undefined) names.push({ type: 'ip', value: ip });
    const certificate = await x509.X509CertificateGenerator.create({
      ...(subject !== undefined && { subject }),
      issuer: new x509.X509Certificate(this.certificate).subject,
      ...validity(validFor),
      publicKey: own.publicKey,
      signingKey: this.keys.privateKey,
      signingAlgorithm: P256,
      extensions: [
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.SubjectAlternativeNameExtension(names, true),
        await x509.AuthorityKeyIdentifierExtension.create(this.keys.publicKey),
      ],
    });
    const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', own.privateKey));
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ type: 'pkcs8', format: 'pem' });
    return { chain: `${certificate.toString('pem')}\n${this.behind}`, key: key.toString() };
  }
}

function validity(validFor = HOUR) {
  return { notBefore: new Date(Date.now() - 2 * HOUR), notAfter: new Date(Date.now() + validFor) };
}
