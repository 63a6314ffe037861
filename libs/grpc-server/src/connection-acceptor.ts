import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { errorText, type CallerLog } from '@causeway/runtime';
import type { StreamLimits, StreamRates } from './stream-limits';

/** Returns the address of a gRPC peer name (`address:port`). */
export function readPeerAddress(peer: string): string {
  return peer.replace(/:\d+$/, '');
}

/** An address and a port, or the path of a unix socket; port 0 picks a free port. */
export type ListenAddress = { readonly host: string; readonly port: number } | { readonly path: string };

function formatAddress(at: ListenAddress): string {
  return 'path' in at ? at.path : `${at.host}:${at.port}`;
}

/** Maximum number of open connections, and rates of new streams on them. */
export interface ConnectionLimits {
  readonly all: number;
  /** The limit for one address; many peers may share an address. */
  readonly address: number;
  /** Defaults to DEFAULT_STREAM_RATES. */
  readonly streams?: StreamRates;
}

export const DEFAULT_CONNECTIONS: ConnectionLimits = { all: 2_000, address: 1_000 };

/**
 * Accepts connections up to a limit, and none from addresses that opened too many streams; rejected ones are closed
 * before a byte is read. grpc-js has no such limit, so it gets connections that are already accepted.
 */
export class ConnectionAcceptor {
  private readonly open = new Set<Socket>();
  private readonly byAddress = new Map<string, number>();
  private readonly servers: NetServer[] = [];

  constructor(
    private readonly limits: ConnectionLimits,
    private readonly log: CallerLog,
    private readonly streams?: Pick<StreamLimits, 'isExhausted'>,
  ) {}

  /** Listens and resolves with the port; 0 for a path. Rejects if it cannot listen. */
  listen(at: ListenAddress, accept: (socket: Socket) => void): Promise<number> {
    const listener = createServer((socket) => {
      if (this.admit(socket)) accept(socket);
    });
    this.servers.push(listener);
    return new Promise((resolve, reject) => {
      const failed = (error: Error): void =>
        reject(new Error(`cannot listen on ${formatAddress(at)}: ${errorText(error)}`, { cause: error }));
      listener.once('error', failed);
      listener.listen(at, () => {
        listener.off('error', failed);
        listener.on('error', (error) => this.log.warn('', 'a gRPC port has failed', { error: errorText(error) }));
        const address = listener.address();
        resolve(typeof address === 'object' && address ? address.port : 0);
      });
    });
  }

  /** Stops accepting connections; resolves when all connections have ended. */
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
    if (this.streams?.isExhausted(address) === true) {
      socket.destroy();
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
