import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import type { Clock } from '@causeway/runtime';
import type { DnsLimits } from '../dns-config';
import { TcpConnection } from './tcp-connection';
import type { PacketHandler } from './udp-listener';

/** What a TCP door works with. */
export interface TcpListenerOptions {
  readonly respond: PacketHandler;
  readonly clock: Clock;
  readonly limits: DnsLimits;
  /** Called for each connection that was turned away. */
  readonly onRefused: () => void;
}

/** Listens for connections (RFC 7766), so many in all and so many of one asker. */
export class TcpListener {
  private readonly open = new Set<TcpConnection>();
  private readonly perClient = new Map<string, number>();

  private constructor(
    private readonly server: Server,
    private readonly options: TcpListenerOptions,
  ) {}

  /** Rejects with the system's error when the address cannot be had. */
  static async open(
    at: { readonly host: string; readonly port: number },
    options: TcpListenerOptions,
  ): Promise<TcpListener> {
    const server = createServer({ noDelay: true });
    const door = new TcpListener(server, options);
    server.on('connection', (socket) => door.accept(socket));
    const listening = once(server, 'listening');
    server.listen({ host: at.host, port: at.port });
    await listening;
    server.on('error', () => undefined);
    return door;
  }

  get port(): number {
    const address: AddressInfo | string | null = this.server.address();
    return address !== null && typeof address === 'object' ? address.port : 0;
  }

  get connections(): number {
    return this.open.size;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const conversation of this.open) conversation.end();
    await closed;
  }

  private accept(socket: Socket): void {
    const asker = socket.remoteAddress ?? '';
    const { tcpConnections, tcpConnectionsPerAsker } = this.options.limits;
    const own = this.perClient.get(asker) ?? 0;
    if (asker === '' || this.open.size >= tcpConnections || own >= tcpConnectionsPerAsker) {
      this.options.onRefused();
      socket.on('error', () => undefined);
      socket.destroy();
      return;
    }
    this.perClient.set(asker, own + 1);
    const conversation = new TcpConnection(socket, { ...this.options, idle: this.options.limits.tcpIdle });
    this.open.add(conversation);
    socket.once('close', () => {
      this.open.delete(conversation);
      const left = (this.perClient.get(asker) ?? 1) - 1;
      if (left > 0) this.perClient.set(asker, left);
      else this.perClient.delete(asker);
    });
  }
}
