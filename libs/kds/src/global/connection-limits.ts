import { Unavailable } from '@causeway/resources';
import { TokenBuckets, type Clock, type Rate, errorText } from '@causeway/runtime';
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import type { Server, ServerCredentials } from '@grpc/grpc-js';
import type { RefusalLog } from '../session/rate-limited-logger';

/** Asked for too often; `retryAfter` ms from now it may be asked for again. gRPC says RESOURCE_EXHAUSTED. */
export class TooManyAttempts extends Unavailable {
  constructor(
    what: string,
    readonly retryAfter: number,
  ) {
    super(`${what}; try again in ${retryAfter} ms`);
  }
}

/** How often zones may knock. */
export interface AttemptRates {
  /** Handshakes of one zone. */
  readonly handshakes: Rate;
  /** Streams of one zone: a session has two. */
  readonly streams: Rate;
  /** Calls from one address, let in or not; behind one there may be many zones. */
  readonly address: Rate;
}

export const DEFAULT_ATTEMPTS: AttemptRates = {
  handshakes: { burst: 20, perSecond: 2 },
  streams: { burst: 40, perSecond: 4 },
  address: { burst: 3_000, perSecond: 1_000 / 3 },
};

/** What a call costs its address beyond the usual when it proves nothing. */
const REFUSED = 9;

/**
 * Limits how often zones and addresses may open sessions and streams. What counts for a zone is asked only once its
 * caller is known: nobody uses up another's.
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

  /** A call has come; `address` is empty where the transport has none. Throws TooManyAttempts. */
  countCall(address: string): void {
    const wait = address === '' ? undefined : this.addresses.take(address);
    if (wait !== undefined) throw new TooManyAttempts(`the address ${address} calls too often`, wait);
  }

  /** The caller could not prove who it is. */
  countUnauthenticated(address: string): void {
    if (address !== '') this.addresses.charge(address, REFUSED);
  }

  /** A zone that is known shakes hands. Throws TooManyAttempts. */
  countHandshake(zone: string): void {
    const wait = this.handshakes.take(zone);
    if (wait !== undefined) throw new TooManyAttempts(`zone ${zone} shakes hands too often`, wait);
  }

  /** A zone that is known opens a stream. Throws TooManyAttempts. */
  countStream(zone: string): void {
    const wait = this.streams.take(zone);
    if (wait !== undefined) throw new TooManyAttempts(`zone ${zone} opens streams too often`, wait);
  }
}

/** The address of a peer as gRPC names it, `address:port`, without the port. */
export function addressOf(peer: string): string {
  return peer.replace(/:\d+$/, '');
}

/** Most connections at one time. */
export interface ConnectionLimits {
  readonly all: number;
  /** From one address: behind one there may be many zones. */
  readonly address: number;
}

export const DEFAULT_CONNECTIONS: ConnectionLimits = { all: 2_000, address: 1_000 };

/**
 * Accepts connections for a gRPC server, as many as there may be: one too many is closed before a byte of it is read.
 * gRPC itself has no limit of connections, so it is handed those that are let in.
 */
export class ConnectionAcceptor {
  private readonly open = new Set<Socket>();
  private readonly byAddress = new Map<string, number>();
  private readonly servers: NetServer[] = [];

  constructor(
    private readonly limits: ConnectionLimits,
    private readonly log: RefusalLog,
  ) {}

  /** Listens and resolves with the port. Rejects with what is in the way. */
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

  /** Lets nobody in any more; resolves when all connections have ended. */
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
