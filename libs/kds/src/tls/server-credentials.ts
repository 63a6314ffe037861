import { experimental, type ServerCredentials } from '@grpc/grpc-js';
import type { ServerCertificates } from './server-certificates';

type IdentityListener = Parameters<experimental.CertificateProvider['addIdentityCertificateListener']>[0];

/**
 * TLS of a server with these certificates, zones showing none. A replaced certificate is shown to whoever connects from
 * then on; what is connected stays.
 */
export function tlsServerCredentials(certificates: ServerCertificates): ServerCredentials {
  const subscriptions = new Map<IdentityListener, () => void>();
  const tell = (listener: IdentityListener): void => {
    const { certificate, privateKey } = certificates.current();
    listener({ certificate: Buffer.from(certificate), privateKey: Buffer.from(privateKey) });
  };
  const provider: experimental.CertificateProvider = {
    addIdentityCertificateListener: (listener) => {
      subscriptions.set(
        listener,
        certificates.onChange(() => tell(listener)),
      );
      // The server is not listening to its credentials yet.
      queueMicrotask(() => tell(listener));
    },
    removeIdentityCertificateListener: (listener) => {
      subscriptions.get(listener)?.();
      subscriptions.delete(listener);
    },
    addCaCertificateListener: () => undefined,
    removeCaCertificateListener: () => undefined,
  };
  return experimental.createCertificateProviderServerCredentials(provider, null, false);
}
