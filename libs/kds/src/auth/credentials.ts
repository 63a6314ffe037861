import { credentials, experimental, type ChannelCredentials, type ServerCredentials } from '@grpc/grpc-js';
import type { ServerCertificates } from '@causeway/access';

type IdentityListener = Parameters<experimental.CertificateProvider['addIdentityCertificateListener']>[0];

/**
 * TLS server credentials with these certificates, without client certificates. A replaced certificate is used for new
 * connections; open ones are kept.
 */
export function tlsServerCredentials(certificates: ServerCertificates): ServerCredentials {
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
      // The server is not listening to its credentials yet.
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

/** A file that a zone needs for its connection to the global is not there yet. */
export class CredentialsMissing extends Error {}

/** How a zone authenticates its global. */
export type GlobalTrust =
  /** No TLS: everything, tokens too, can be read on the way. */
  | { readonly type: 'plain' }
  /** TLS with a certificate of this authority (PEM), or of one that this machine trusts. */
  | { readonly type: 'verified'; readonly authority?: Buffer }
  /** TLS without verification; only if the operator asks for it. */
  | { readonly type: 'unverified' };

/** Credentials of a connection to the global. Throws if the authority is not PEM. */
export function globalCredentials(trust: GlobalTrust): ChannelCredentials {
  switch (trust.type) {
    case 'plain':
      return credentials.createInsecure();
    case 'verified':
      return credentials.createSsl(trust.authority ?? null);
    case 'unverified':
      return credentials.createSsl(null, null, null, { rejectUnauthorized: false });
  }
}
