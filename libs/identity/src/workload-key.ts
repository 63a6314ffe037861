import { createPrivateKey, createPublicKey, webcrypto } from 'node:crypto';
import { CURVE, loadLibrary } from './x509';

/** Private key of a workload, and a CSR for it; both PEM. */
export interface WorkloadKey {
  readonly privateKey: string;
  readonly csr: string;
}

/** Creates an ECDSA P-256 key and a CSR without a subject: the CSR does not decide the id. */
export async function createWorkloadKey(): Promise<WorkloadKey> {
  const keys = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return { privateKey: key.export({ type: 'pkcs8', format: 'pem' }).toString(), csr: await signCsr(keys) };
}

/** Creates a CSR for a P-256 private key (PEM). Throws if it is no such key. */
export async function createCsr(privateKey: string): Promise<string> {
  const key = createPrivateKey(privateKey);
  const pkcs8 = key.export({ type: 'pkcs8', format: 'der' });
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return signCsr({
    privateKey: await webcrypto.subtle.importKey('pkcs8', pkcs8, CURVE, true, ['sign']),
    publicKey: await webcrypto.subtle.importKey('spki', spki, CURVE, true, ['verify']),
  });
}

async function signCsr(keys: webcrypto.CryptoKeyPair): Promise<string> {
  const x509 = await loadLibrary();
  const csr = await x509.Pkcs10CertificateRequestGenerator.create({ keys, signingAlgorithm: CURVE });
  return `${csr.toString('pem').trim()}\n`;
}
