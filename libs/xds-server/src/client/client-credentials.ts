import { credentials, type ChannelCredentials, type ChannelOptions } from '@grpc/grpc-js';
import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';

/** The authorities that verify a control plane, and the client's credentials. */
export interface AdsClientTls {
  /** The authorities, in PEM. */
  readonly authorities: string;
  /** Certificate chain and key in PEM, if the client has them. */
  readonly identity?: { readonly chain: string; readonly key: string };
}

/** Options of a gRPC client. */
export interface ClientCredentials {
  readonly credentials: ChannelCredentials;
  readonly options: ChannelOptions;
}

/**
 * Returns the credentials of a client of `address` (`host:port`); plaintext if `tls` is undefined. TLS allows no IP address as server name (RFC 6066
 * §3): a placeholder is sent, and the certificate is still checked against the address.
 */
export function clientCredentials(address: string, tls: AdsClientTls | undefined): ClientCredentials {
  if (!tls) return { credentials: credentials.createInsecure(), options: {} };
  const { authorities, identity } = tls;
  const [key, chain] = identity ? [Buffer.from(identity.key), Buffer.from(identity.chain)] : [null, null];
  const host = address.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  const roots = Buffer.from(authorities);
  if (isIP(host) === 0) return { credentials: credentials.createSsl(roots, key, chain), options: {} };
  const checked = { checkServerIdentity: (_: string, shown: PeerCertificate) => checkServerIdentity(host, shown) };
  const options = { 'grpc.ssl_target_name_override': 'control-plane.invalid' };
  return { credentials: credentials.createSsl(roots, key, chain, checked), options };
}
