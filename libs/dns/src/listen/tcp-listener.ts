import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Clock } from '@causeway/runtime';
import type { DnsLimits } from '../dns-config';
import { TcpConnection } from './tcp-connection';
import type { PacketHandler } from './udp-listener';

/** Dependencies of a TCP listener. */
export interface TcpListenerOptions {
  readonly respond: PacketHandler;
  readonly clock: Clock;
  readonly limits: DnsLimits;
  /** Called for each connection that is refused because of `limits`. */
  readonly onRefused: () => void;
}

/** A TCP socket that accepts connections (RFC 7766) up to a limit in total and per client. */
export class TcpListener {
  private readonly open = new Set<TcpConnection>();
  private readonly perClient = new Map<string, number>();

  private constructor(
    private readonly server: Server,
    private readonly options: TcpListenerOptions,
  ) {}

  /** Rejects with the system's error if the address cannot be bound. */
  static async open(
    at: { readonly host: string; readonly port: number },
    options: TcpListenerOptions,
  ): Promise<TcpListener> {
    const server = createServer({ noDelay: true });
    const listener = new TcpListener(server, options);
    server.on('connection', (socket) => listener.accept(socket));
    const listening = once(server, 'listening');
    server.listen({ host: at.host, port: at.port });
    await listening;
    server.on('error', () => undefined);
    return listener;
  }

  get port(): number {
    const address: AddressInfo | string | null = this.server.address();
    return address !== null && typeof address === 'object' ? address.port : 0;
  }

  /** Number of open connections. */
  get connections(): number {
    return this.open.size;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const connection of this.open) connection.end();
    await closed;
  }

  private accept(socket: Socket): void {
    const client = socket.remoteAddress ?? '';
    const { tcpConnections, tcpConnectionsPerClient } = this.options.limits;
    const own = this.perClient.get(client) ?? 0;
    if (client === '' || this.open.size >= tcpConnections || own >= tcpConnectionsPerClient) {
      this.options.onRefused();
      socket.on('error', () => undefined);
      socket.destroy();
      return;
    }
    this.perClient.set(client, own + 1);
    const connection = new TcpConnection(socket, { ...this.options, idle: this.options.limits.tcpIdle });
    this.open.add(connection);
    socket.once('close', () => {
      this.open.delete(connection);
      const left = (this.perClient.get(client) ?? 1) - 1;
      if (left > 0) this.perClient.set(client, left);
      else this.perClient.delete(client);
    });
  }
}
