import type { RequestListener, ServerOptions } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { ServerCertificates } from '@causeway/access';
import type { Clock, Logger } from '@causeway/runtime';

/** Timeout of a handshake, ms. */
const HANDSHAKE_TIMEOUT = 10_000;
/** Minimum interval between log lines about failed handshakes, ms. */
const LOGGED_EVERY = 60_000;

/** Dependencies of `RestTls`. */
export interface RestTlsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * TLS of a `restAdapter`. The server is created before the store is reached, and gets its certificate by `use`, before
 * it listens. New connections use a replaced certificate; open ones continue.
 */
export class RestTls {
  private server: Server | undefined;
  private stop: (() => void) | undefined;
  private quietUntil = -Infinity;

  constructor(private readonly options: RestTlsOptions) {}

  /** Creates the server for Fastify. */
  createServer(options: ServerOptions, handler: RequestListener): Server {
    this.server = createServer(
      { ...options, minVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'], handshakeTimeout: HANDSHAKE_TIMEOUT },
      handler,
    );
    this.server.on('tlsClientError', (error: NodeJS.ErrnoException, { remoteAddress }) =>
      this.report(error.code ?? error.message, remoteAddress),
    );
    return this.server;
  }

  /** Uses these certificates until `close`. Throws if they are unusable. */
  use(certificates: ServerCertificates): void {
    const show = (): void => {
      const { certificate: cert, privateKey: key } = certificates.current();
      this.server?.setSecureContext({ cert, key, minVersion: 'TLSv1.2' });
    };
    show();
    this.close();
    this.stop = certificates.onChange(show);
  }

  close(): void {
    this.stop?.();
  }

  private report(code: string, address: string | undefined): void {
    const now = this.options.clock.now();
    if (now < this.quietUntil || code === 'ECONNRESET') return;
    this.quietUntil = now + LOGGED_EVERY;
    const reason = code === 'ERR_SSL_HTTP_REQUEST' ? 'it speaks plain HTTP: the address begins with https://' : code;
    this.options.logger.warn('the TLS handshake of a REST client failed', { address, reason });
  }
}
