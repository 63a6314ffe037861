import type { X509Certificate } from 'node:crypto';
import type { Proxy } from './resource-source';

/** A proxy as it describes itself when its stream begins. */
export interface ProxyCaller {
  /** Its node id. */
  readonly node: string;
  readonly cluster: string;
  /** Metadata of its node, as JSON. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Envoy, with its version; gRPC. */
  readonly userAgent: string;
  /** The header `authorization`; empty where there is none. */
  readonly authorization: string;
  /** The certificate that it showed in its TLS handshake: it has the key, and nothing else is verified. */
  readonly certificate?: X509Certificate;
  readonly address: string;
}

export interface AdmittedProxy<V> {
  readonly proxy: Proxy<V>;
  /** When its right ends, ms since 1970; it is asked for again then. */
  readonly until?: number;
  /** Is called once, when the stream has ended or was admitted anew. */
  readonly release?: () => void;
}

/**
 * Says who a proxy is. It is asked when a stream begins, when `until` has come, and on each change: a rejection then ends the
 * stream, another view is served from then on.
 */
export interface ProxyAuthenticator<V> {
  /** Rejects with Unauthenticated, Forbidden, NotFound, Invalid or Unavailable. */
  admit(caller: ProxyCaller): Promise<AdmittedProxy<V>>;
  /** Keys, revocations or Dataplanes have changed: the streams of these proxies are judged again, of all without the argument. */
  onChange?(listener: (proxies?: Iterable<string>) => void): () => void;
}
