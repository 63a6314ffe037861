import 'reflect-metadata';
import { createPrivateKey, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const RSA = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048 } as const;
const YEAR = 365 * 24 * 3_600_000;

/** An authority of a mesh as Kuma 2.14 makes one for `Mesh.mtls`: RSA, its key PKCS#1, its key id not of SHA-1 (RFC 7093). */
export async function kumaAuthority(mesh: string, now: number): Promise<{ certificate: string; privateKey: string }> {
  x509.cryptoProvider.set(webcrypto);
  const keys = await webcrypto.subtle.generateKey({ ...RSA, publicExponent: new Uint8Array([1, 0, 1]) }, true, [
    'sign',
    'verify',
  ]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `O=Kuma, OU=Mesh, CN=${mesh}`,
    notBefore: new Date(now - 10_000),
    notAfter: new Date(now + 10 * YEAR),
    keys,
    signingAlgorithm: RSA,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      new x509.SubjectAlternativeNameExtension([{ type: 'url', value: `spiffe://${mesh}` }]),
      new x509.SubjectKeyIdentifierExtension('00112233445566778899aabbccddeeff00112233'),
    ],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return {
    certificate: `${certificate.toString('pem').trim()}\n`,
    privateKey: key.export({ type: 'pkcs1', format: 'pem' }).toString(),
  };
}
