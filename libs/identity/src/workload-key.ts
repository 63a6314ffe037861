import { createPrivateKey, webcrypto } from 'node:crypto';
import { CURVE, library } from './x509';

/** A workload's private key, and a CSR for it; both in PEM. */
export interface WorkloadKey {
  readonly privateKey: string;
  readonly csr: string;
}

/** Makes an ECDSA key of the curve P-256 and a CSR without a subject: whose certificate it becomes is not the CSR's to say. */
export async function createWorkloadKey(): Promise<WorkloadKey> {
  const x509 = await library();
  const keys = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const csr = await x509.Pkcs10CertificateRequestGenerator.create({ keys, signingAlgorithm: CURVE });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return {
    privateKey: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    csr: `${csr.toString('pem').trim()}\n`,
  };
}
