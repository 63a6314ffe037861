import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** Makes a key pair of a workload; ECDSA P-256 unless given. */
export async function csrKey(
  algorithm: webcrypto.EcKeyGenParams | webcrypto.RsaHashedKeyGenParams = P256,
): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

/** A CSR in PEM, signed with its key, whose subject and names claim to be anybody. */
export async function createCsr(keys: webcrypto.CryptoKeyPair, uri = 'spiffe://elsewhere/admin'): Promise<string> {
  x509.cryptoProvider.set(webcrypto);
  const csr = await x509.Pkcs10CertificateRequestGenerator.create({
    name: 'CN=admin',
    keys,
    signingAlgorithm: { ...P256, ...keys.privateKey.algorithm },
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'url', value: uri }])],
  });
  return csr.toString('pem');
}
