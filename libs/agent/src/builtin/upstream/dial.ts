import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { Clock } from '@causeway/runtime';
import type { ClientTls } from '../decode/tls-settings';
import { checkPeer, type PeerFailure } from '../tls/peer-check';
import type { TlsContexts, TlsMaterial } from '../tls/tls-material';
import type { HostAssignment } from './host';

/** The reason why a host cannot be reached, by Envoy's counter. `no material`: this host lacks a certificate; the upstream host is not at fault. */
export type DialFailure = 'timeout' | 'refused' | 'no material' | `ssl.${PeerFailure}` | 'ssl.connection_error';

/** Connected socket with the TCP socket below it, or why the connection failed. */
export type DialResult =
  | { readonly ok: true; readonly socket: Socket; readonly raw: Socket }
  | { readonly ok: false; readonly failure: DialFailure; readonly reason: string };

export interface DialOptions {
  readonly contexts: TlsContexts;
  readonly clock: Clock;
  /** Timeout including the TLS handshake, ms. */
  readonly timeout: number;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** Connects to a host and verifies its identity. Never rejects. */
export function dial({ transport, address, port }: HostAssignment, options: DialOptions): Promise<DialResult> {
  const { contexts, clock, timeout, signal } = options;
  const material = transport === 'plaintext' ? undefined : contexts.getMaterial(transport, 'client');
  if (typeof material === 'string') return Promise.resolve({ ok: false, failure: 'no material', reason: material });
  return new Promise((resolve) => {
    let isConnected = false;
    const raw = connect({ host: address, port, allowHalfOpen: true, noDelay: true });
    const tls =
      transport === 'plaintext' || !material
        ? undefined
        : connectTls({ socket: raw, ...buildTlsOptions(transport, material) });
    // Saves half the cost of a handshake: Node would parse the certificate, which `checkPeer` does.
    if (tls) Object.defineProperty(tls, 'getPeerCertificate', { value: () => undefined });
    const socket: Socket = tls ?? raw;
    const timer = clock.after(timeout, () => end('timeout', `no answer within ${timeout} ms`));
    const aborted = (): void => end('refused', 'the client has gone');
    signal.addEventListener('abort', aborted, { once: true });
    const failed = (error: Error): void => end(isConnected ? 'ssl.connection_error' : 'refused', error.message);
    const closed = (): void => failed(new Error('the connection was closed'));
    socket.on('error', failed).on('close', closed);
    raw.once('connect', () => {
      isConnected = true;
      if (!tls) ready();
    });
    tls?.once('secureConnect', () => {
      if (transport === 'plaintext') return;
      const result = checkPeer(tls, transport, material?.domains, clock.now());
      if (result.ok) ready();
      else end(`ssl.${result.counter}`, result.reason);
    });

    function ready(): void {
      settle();
      resolve({ ok: true, socket, raw });
    }
    function end(failure: DialFailure, reason: string): void {
      settle();
      socket.destroy();
      raw.destroy();
      resolve({ ok: false, failure, reason });
    }
    function settle(): void {
      timer.cancel();
      signal.removeEventListener('abort', aborted);
      socket
        .on('error', () => undefined)
        .removeListener('error', failed)
        .removeListener('close', closed);
    }
  });
}

function buildTlsOptions({ sni, alpn }: ClientTls, { context }: TlsMaterial): ConnectionOptions {
  return {
    secureContext: context,
    ...(sni !== '' && isIP(sni) === 0 && { servername: sni }),
    ...(alpn.length > 0 && { ALPNProtocols: [...alpn] }),
    // The peer is verified after the handshake, so that each failure has its own counter.
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
  };
}
