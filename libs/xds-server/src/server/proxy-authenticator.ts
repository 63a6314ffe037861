import type { X509Certificate } from 'node:crypto';
import type { Proxy } from './resource-source';

/** The identity that a proxy claims when its stream begins. */
export interface ProxyCaller {
  /** Its node id. */
  readonly node: string;
  readonly cluster: string;
  /** Metadata of its node, as JSON. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The program: Envoy with its version, or gRPC. */
  readonly userAgent: string;
  /** The header `authorization`; empty if absent. */
  readonly authorization: string;
  /** The certificate of the TLS handshake: the proxy has proved that it has the key; nothing else is verified. */
  readonly certificate?: X509Certificate;
  readonly address: string;
}

export interface AdmittedProxy<V> {
  readonly proxy: Proxy<V>;
  /** When the admission expires, ms since 1970; the proxy is then authenticated again. */
  readonly until?: number;
  /** Called once, when the stream has ended or was admitted again. */
  readonly release?: () => void;
}

/**
 * Authenticates proxies: when a stream begins, when `until` has passed, and on each change. A rejection of a running stream ends it; another view
 * replaces the one that it is served.
 */
export interface ProxyAuthenticator<V> {
  /** Rejects with Unauthenticated, Forbidden, NotFound, Invalid or Unavailable. */
  admit(caller: ProxyCaller): Promise<AdmittedProxy<V>>;
  /**
   * Calls `listener` when keys, revocations or Dataplanes change: the streams of these proxies are authenticated again; without the argument all
   * streams.
   */
  onChange?(listener: (proxies?: Iterable<string>) => void): () => void;
}
