import { createServer as createHttpServer, type RequestListener, type Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import type { ServerCertificates } from '@causeway/access';
import { errorText, type CallerLog, type Clock } from '@causeway/runtime';

/** Options of a port shared between gRPC and HTTP/1. */
export interface SharedPortOptions {
  /** Plain text if it is undefined. */
  readonly certificates: Pick<ServerCertificates, 'current' | 'onChange'> | undefined;
  /** Handles HTTP/1 requests. */
  readonly http: RequestListener;
  readonly clock: Clock;
  readonly log: CallerLog;
}

/** Timeouts of a peer for its TLS handshake, for its first bytes, and for a complete HTTP/1 request, ms. */
const HANDSHAKE = 10_000;
const FIRST_BYTES = 10_000;
const HTTP_CONNECTION = 30_000;

/** First bytes of an HTTP/2 connection; no HTTP/1 method starts like this. */
const PREFACE = Buffer.from('PRI');

/**
 * Terminates TLS, distinguishes HTTP/2 from HTTP/1 by the first bytes (also for clients without ALPN), and passes
 * connections on. A replaced certificate is used for new connections.
 */
export class SharedPort {
  private readonly http: HttpServer;
  private readonly tls: TlsServer | undefined;
  private readonly stop: () => void;

  constructor(
    private readonly options: SharedPortOptions,
    /** Serves an HTTP/2 connection; `read` is data that was read and pushed back. */
    private readonly grpc: (socket: Socket, read: Buffer) => void,
  ) {
    const { certificates, http } = options;
    this.http = createHttpServer({ maxHeaderSize: 16 * 1024, keepAlive: false }, http);
    if (!certificates) {
      this.stop = () => undefined;
      return;
    }
    const shown = () => {
      const { certificate, privateKey } = certificates.current();
      return { cert: certificate, key: privateKey };
    };
    const tls = createTlsServer({
      ...shown(),
      ALPNProtocols: ['h2', 'http/1.1'],
      handshakeTimeout: HANDSHAKE,
      // A client that presents a certificate proves that it has the key; the service decides whether it is trusted
      // (Http2Streams.findCertificate).
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
    });
    tls.on('secureConnection', (socket) => this.tellApart(socket));
    tls.on('tlsClientError', (error, { remoteAddress = '' }) => this.refused(remoteAddress, error));
    this.tls = tls;
    this.stop = certificates.onChange(() => tls.setSecureContext(shown()));
  }

  /** Serves an accepted connection. */
  accept(socket: Socket): void {
    // Errors before the TLS handshake; afterwards the TLS socket reports them.
    socket.on('error', () => undefined);
    if (this.tls) this.tls.emit('connection', socket);
    else this.tellApart(socket);
  }

  close(): void {
    this.stop();
  }

  private tellApart(socket: Socket): void {
    const { clock } = this.options;
    let read = Buffer.alloc(0);
    const deadline = clock.after(FIRST_BYTES, () => socket.destroy());
    const failed = (): void => void socket.destroy();
    const readable = (): void => {
      const part: unknown = socket.read();
      if (Buffer.isBuffer(part)) read = Buffer.concat([read, part]);
      if (read.length < PREFACE.length) return;
      deadline.cancel();
      socket.off('readable', readable).off('error', failed);
      socket.unshift(read);
      if (read.subarray(0, PREFACE.length).equals(PREFACE)) this.grpc(socket, read);
      else this.serveHttp(socket);
    };
    socket.on('error', failed).on('readable', readable);
    socket.once('close', () => deadline.cancel());
  }

  private serveHttp(socket: Socket): void {
    const deadline = this.options.clock.after(HTTP_CONNECTION, () => socket.destroy());
    socket.once('close', () => deadline.cancel());
    this.http.emit('connection', socket);
  }

  private refused(address: string, error: Error): void {
    this.options.log.warn(`tls ${address}`, 'a TLS handshake has failed', { address, error: errorText(error) });
  }
}
