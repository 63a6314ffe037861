import { credentials, type ChannelCredentials } from '@grpc/grpc-js';

/** How a zone speaks to its global. */
export type GlobalTrust =
  /** No TLS: what is said, tokens too, can be read on the way. */
  | { readonly type: 'plain' }
  /** TLS with a certificate of this authority (PEM), or of one that this machine trusts anyway. */
  | { readonly type: 'verified'; readonly authority?: Buffer }
  /** TLS with whoever answers; only by the operator's explicit word. */
  | { readonly type: 'unverified' };

/** The credentials of a connection to the global. Throws when the authority is no PEM. */
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
