import { Unavailable } from '@causeway/resources';
import { TokenBuckets, type Clock, type Rate, errorText } from '@causeway/runtime';
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import type { Server, ServerCredentials } from '@grpc/grpc-js';
import type { CallerLog } from '../session/rate-limited-logger';

/** A caller exceeds its rate; it may retry in `retryAfter` ms. Its gRPC status is RESOURCE_EXHAUSTED. */
export class TooManyAttempts extends Unavailable {
  constructor(
    what: string,
    readonly retryAfter: number,
  ) {
    super(`${what}; try again in ${retryAfter} ms`);
  }
}

/** How often zones may call. */
export interface AttemptRates {
  /** For the handshakes of one zone. */
  readonly handshakes: Rate;
  /** For the streams of one zone; a session has two. */
  readonly streams: Rate;
  /** For calls from one address, accepted or not; many zones may share an address. */
  readonly address: Rate;
}

export const DEFAULT_ATTEMPTS: AttemptRates = {
  handshakes: { burst: 20, perSecond: 2 },
  streams: { burst: 40, perSecond: 4 },
  address: { burst: 3_000, perSecond: 1_000 / 3 },
};

/** What an unauthenticated call costs its address beyond the usual. */
const REFUSED = 9;

/**
 * Limits how often zones and addresses may open sessions and streams. The rates of a zone are charged only after its caller
 * is authenticated, so nobody can use up those of another zone.
 */
export class AttemptLimits {
  private readonly handshakes: TokenBuckets;
  private readonly streams: TokenBuckets;
  private readonly addresses: TokenBuckets;

  constructor(clock: Pick<Clock, 'elapsed'>, rates: AttemptRates = DEFAULT_ATTEMPTS) {
    this.handshakes = new TokenBuckets(rates.handshakes, clock);
    this.streams = new TokenBuckets(rates.streams, clock);
    this.addresses = new TokenBuckets(rates.address, clock);
  }

  /** Charges a call; `address` is empty where the transport has none. Throws TooManyAttempts. */
  countCall(address: string): void {
    const wait = address === '' ? undefined : this.addresses.take(address);
    if (wait !== undefined) throw new TooManyAttempts(`the address ${address} calls too often`, wait);
  }

  /** Charges the address for a caller that could not be authenticated. */
  countUnauthenticated(address: string): void {
    if (address !== '') this.addresses.charge(address, REFUSED);
  }

  /** Charges a handshake of an authenticated zone. Throws TooManyAttempts. */
  countHandshake(zone: string): void {
    const wait = this.handshakes.take(zone);
    if (wait !== undefined) throw new TooManyAttempts(`zone ${zone} shakes hands too often`, wait);
  }

  /** Charges a stream of an authenticated zone. Throws TooManyAttempts. */
  countStream(zone: string): void {
    const wait = this.streams.take(zone);
    if (wait !== undefined) throw new TooManyAttempts(`zone ${zone} opens streams too often`, wait);
  }
}

/** The address in a peer's name in gRPC, `address:port`. */
export function addressOf(peer: string): string {
  return peer.replace(/:\d+$/, '');
}

/** Most open connections. */
export interface ConnectionLimits {
  readonly all: number;
  /** From one address; many zones may share an address. */
  readonly address: number;
}

export const DEFAULT_CONNECTIONS: ConnectionLimits = { all: 2_000, address: 1_000 };

/**
 * Accepts connections for a gRPC server up to a limit; a connection above it is closed before a byte of it is read. grpc-js
 * has no such limit, so it is handed the accepted connections.
 */
export class ConnectionAcceptor {
  private readonly open = new Set<Socket>();
  private readonly byAddress = new Map<string, number>();
  private readonly servers: NetServer[] = [];

  constructor(
    private readonly limits: ConnectionLimits,
    private readonly log: CallerLog,
  ) {}

  /** Listens and resolves with the port. Rejects where it cannot listen. */
  listen(
    server: Server,
    at: { readonly host: string; readonly port: number },
    credentials: ServerCredentials,
  ): Promise<number> {
    const injector = server.createConnectionInjector(credentials);
    const listener = createServer((socket) => {
      if (this.admit(socket)) injector.injectConnection(socket);
    });
    this.servers.push(listener);
    return new Promise((resolve, reject) => {
      const failed = (error: Error): void =>
        reject(new Error(`cannot listen on ${at.host}:${at.port}: ${errorText(error)}`, { cause: error }));
      listener.once('error', failed);
      listener.listen(at.port, at.host, () => {
        listener.off('error', failed);
        listener.on('error', (error) =>
          this.log.warn('', 'the port for zones has failed', { error: errorText(error) }),
        );
        const address = listener.address();
        resolve(typeof address === 'object' && address ? address.port : at.port);
      });
    });
  }

  /** Accepts no further connection; resolves when all connections have ended. */
  async stop(): Promise<void> {
    await Promise.all(this.servers.splice(0).map((server) => new Promise<void>((done) => server.close(() => done()))));
  }

  /** Ends all connections. */
  end(): void {
    for (const socket of this.open) socket.destroy();
  }

  private admit(socket: Socket): boolean {
    const address = socket.remoteAddress ?? '';
    const here = this.byAddress.get(address) ?? 0;
    const full = this.open.size >= this.limits.all;
    if (full || here >= this.limits.address) {
      socket.destroy();
      const limit = full ? this.limits.all : this.limits.address;
      this.log.warn(`connections ${address}`, 'a connection was refused: there are too many', { address, limit });
      return false;
    }
    this.open.add(socket);
    this.byAddress.set(address, here + 1);
    socket.once('close', () => this.leave(socket, address));
    return true;
  }

  private leave(socket: Socket, address: string): void {
    this.open.delete(socket);
    const left = (this.byAddress.get(address) ?? 1) - 1;
    if (left > 0) this.byAddress.set(address, left);
    else this.byAddress.delete(address);
  }
}
