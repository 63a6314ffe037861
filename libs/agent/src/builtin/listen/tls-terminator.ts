import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { Clock } from '@causeway/runtime';
import type { DecodedFilterChain } from '../decode/listeners';
import type { ServerTls } from '../decode/tls-settings';
import { ANONYMOUS_CALLER, type VerifiedCaller } from '../decode/verified-caller';
import type { Stats } from '../stats';
import { checkPeer, type PeerCheckResult } from '../tls/peer-check';
import type { TlsContexts, TlsMaterial } from '../tls/tls-material';

/** Client that has completed the TLS handshake and is verified. */
export interface SecuredClient {
  readonly socket: TLSSocket;
  readonly caller: VerifiedCaller;
}

/** ALPN protocol name of mesh clients. */
const MESH_ALPN = 'kuma';

/** Server side of TLS for one filter chain. Node's TLS server gets accepted connections and never listens itself. */
export class TlsTerminator {
  private readonly server: Server;
  private material: TlsMaterial | undefined;
  /** Handshakes in progress, by client address: Node reports a completed one with a new socket. */
  private readonly waiting = new Map<string, (socket: TLSSocket | undefined) => void>();

  constructor(
    private readonly tls: ServerTls,
    { handshakeTimeout }: Pick<DecodedFilterChain, 'handshakeTimeout'>,
    private readonly tools: { readonly contexts: TlsContexts; readonly clock: Clock; readonly stats: Stats },
    /** HTTP version of the process behind the listener; undefined if it is plain TCP. */
    private readonly findHttpVersion: () => 1 | 2 | undefined,
  ) {
    this.server = createServer({
      handshakeTimeout,
      requestCert: tls.needsClientCertificate,
      // The peer is verified after the handshake, so that each failure has its own counter.
      rejectUnauthorized: false,
      ALPNCallback: ({ protocols }) => chosenProtocol(protocols, this.tls.alpn, this.findHttpVersion()),
    });
    this.server.on('secureConnection', (socket) => this.waiting.get(formatAddress(socket))?.(socket));
    this.server.on('tlsClientError', (error: Error & { readonly code?: string }, socket) => {
      if (error.code !== 'ECONNRESET') this.tools.stats.add('ssl.connection_error');
      socket.destroy();
    });
  }

  /** Performs the handshake. Undefined if it fails or the client is not trusted: it is then closed and counted. */
  async secure(raw: Socket): Promise<SecuredClient | undefined> {
    const { contexts, stats, clock } = this.tools;
    const material = contexts.getMaterial(this.tls, 'server');
    if (typeof material === 'string') {
      stats.add('ssl.connection_error');
      raw.destroy();
      return undefined;
    }
    if (material !== this.material) this.use(material);
    const socket = await this.handshake(raw);
    if (!socket) return undefined;
    const result = this.checkClient(socket, clock.now());
    if (result.ok) {
      stats.add('ssl.handshake');
      return { socket, caller: result };
    }
    stats.add(`ssl.${result.counter}`);
    socket.destroy();
    return undefined;
  }

  private use(material: TlsMaterial): void {
    this.material = material;
    this.server.setSecureContext(material.options);
  }

  private checkClient(socket: TLSSocket, now: number): PeerCheckResult {
    if (!this.tls.needsClientCertificate) return { ok: true, ...ANONYMOUS_CALLER };
    return checkPeer(socket, this.tls, this.material?.domains, now);
  }

  private handshake(raw: Socket): Promise<TLSSocket | undefined> {
    const key = formatAddress(raw);
    return new Promise((resolve) => {
      const end = (socket: TLSSocket | undefined): void => {
        this.waiting.delete(key);
        raw.removeListener('close', failed);
        resolve(socket);
      };
      const failed = (): void => end(undefined);
      raw.once('close', failed);
      this.waiting.set(key, end);
      this.server.emit('connection', raw);
    });
  }
}

function formatAddress({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ''} ${remotePort ?? ''}`;
}

/** Selects the ALPN protocol. Node would reject a client that offers only unknown ones; Envoy accepts it. */
function chosenProtocol(
  offered: readonly string[],
  known: readonly string[],
  http: 1 | 2 | undefined,
): string | undefined {
  const wanted = http === 1 ? ['http/1.1'] : http === 2 ? ['h2'] : known;
  return [...wanted, MESH_ALPN, ...offered].find((name) => offered.includes(name));
}
