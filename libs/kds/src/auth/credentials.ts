import { credentials, type ChannelCredentials } from '@grpc/grpc-js';

/** A file with a zone's credentials for its global does not exist yet. */
export class CredentialsMissing extends Error {}

/** The verification of the global by a zone. */
export type GlobalTrust =
  /** No TLS: everything, including tokens, is readable on the network. */
  | { readonly type: 'plain' }
  /** TLS with a certificate of this authority (PEM), or of one that the host trusts. */
  | { readonly type: 'verified'; readonly authority?: Buffer }
  /** TLS without verification; only if the operator asks for it. */
  | { readonly type: 'unverified' };

/** Returns the channel credentials of a connection to the global. Throws if the authority is not PEM. */
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
