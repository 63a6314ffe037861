import { experimental, type ServerCredentials } from '@grpc/grpc-js';
import type { ServerCertificates } from '@causeway/access';

type IdentityListener = Parameters<experimental.CertificateProvider['addIdentityCertificateListener']>[0];

/**
 * TLS server credentials with these certificates, without client certificates. A replaced certificate is used for new
 * connections; open ones are kept.
 */
export function tlsServerCredentials(
  certificates: Pick<ServerCertificates, 'current' | 'onChange'>,
): ServerCredentials {
  const subscriptions = new Map<IdentityListener, () => void>();
  const update = (listener: IdentityListener): void => {
    const { certificate, privateKey } = certificates.current();
    listener({ certificate: Buffer.from(certificate), privateKey: Buffer.from(privateKey) });
  };
  const provider: experimental.CertificateProvider = {
    addIdentityCertificateListener: (listener) => {
      subscriptions.set(
        listener,
        certificates.onChange(() => update(listener)),
      );
      // The server does not listen to its credentials yet.
      queueMicrotask(() => update(listener));
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
