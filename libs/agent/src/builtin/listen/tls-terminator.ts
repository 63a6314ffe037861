import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { Clock } from '@causeway/runtime';
import type { DecodedFilterChain } from '../decode/listeners';
import type { ServerTls } from '../decode/tls-settings';
import { NOBODY, type VerifiedCaller } from '../decode/verified-caller';
import type { Stats } from '../stats';
import { checkPeer, type PeerCheckResult } from '../tls/peer-check';
import type { TlsContexts, TlsMaterial } from '../tls/tls-material';

/** A client whose handshake is done and whose identity is verified. */
export interface SecuredClient {
  readonly socket: TLSSocket;
  readonly caller: VerifiedCaller;
}

/** Protocol name (ALPN) of clients of the mesh. */
const MESH_ALPN = 'kuma';

/** The server side of TLS of one filter chain, by Node's own TLS server, which never listens: connections are handed to it. */
export class TlsTerminator {
  private readonly server: Server;
  private material: TlsMaterial | undefined;
  /** Handshakes under way, by the client's address: Node gives a socket of its own. */
  private readonly waiting = new Map<string, (socket: TLSSocket | undefined) => void>();

  constructor(
    private readonly tls: ServerTls,
    { handshakeTimeout }: Pick<DecodedFilterChain, 'handshakeTimeout'>,
    private readonly tools: { readonly contexts: TlsContexts; readonly clock: Clock; readonly stats: Stats },
    /** Which HTTP the process behind it speaks; undefined where it is bytes. */
    private readonly findHttpVersion: () => 1 | 2 | undefined,
  ) {
    this.server = createServer({
      handshakeTimeout,
      requestCert: tls.needsClientCertificate,
      // // The peer is verified afterwards, so that each failure has a counter.
      rejectUnauthorized: false,
      ALPNCallback: ({ protocols }) => chosenProtocol(protocols, this.tls.alpn, this.findHttpVersion()),
    });
    this.server.on('secureConnection', (socket) => this.waiting.get(formatAddress(socket))?.(socket));
    this.server.on('tlsClientError', (error: Error & { readonly code?: string }, socket) => {
      if (error.code !== 'ECONNRESET') this.tools.stats.add('ssl.connection_error');
      socket.destroy();
    });
  }

  /**
   * Performs the handshake; undefined if it fails or the client is not trusted: the connection is closed and counted.
   */
  async secure(raw: Socket): Promise<SecuredClient | undefined> {
    const { contexts, stats, clock } = this.tools;
    const material = contexts.of(this.tls, 'server');
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
    if (!this.tls.needsClientCertificate) return { ok: true, ...NOBODY };
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

/** The protocol of a client that offers some. Node would refuse one of which none is known; Envoy goes on without. */
function chosenProtocol(
  offered: readonly string[],
  known: readonly string[],
  http: 1 | 2 | undefined,
): string | undefined {
  const wanted = http === 1 ? ['http/1.1'] : http === 2 ? ['h2'] : known;
  return [...wanted, MESH_ALPN, ...offered].find((name) => offered.includes(name));
}
