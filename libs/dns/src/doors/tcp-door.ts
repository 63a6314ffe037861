import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import type { Clock } from '@causeway/runtime';
import type { DnsLimits } from '../dns-config';
import { TcpConversation } from './tcp-conversation';
import type { Respond } from './udp-door';

/** What a TCP door works with. */
export interface TcpDoorOptions {
  readonly respond: Respond;
  readonly clock: Clock;
  readonly limits: DnsLimits;
  /** Called for each connection that was turned away. */
  readonly refused: () => void;
}

/** Listens for connections (RFC 7766), so many in all and so many of one asker. */
export class TcpDoor {
  private readonly open = new Set<TcpConversation>();
  private readonly perAsker = new Map<string, number>();

  private constructor(
    private readonly server: Server,
    private readonly options: TcpDoorOptions,
  ) {}

  /** Rejects with the system's error when the address cannot be had. */
  static async open(at: { readonly host: string; readonly port: number }, options: TcpDoorOptions): Promise<TcpDoor> {
    const server = createServer({ noDelay: true });
    const door = new TcpDoor(server, options);
    server.on('connection', (socket) => door.greet(socket));
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

  private greet(socket: Socket): void {
    const asker = socket.remoteAddress ?? '';
    const { tcpConnections, tcpConnectionsPerAsker } = this.options.limits;
    const own = this.perAsker.get(asker) ?? 0;
    if (asker === '' || this.open.size >= tcpConnections || own >= tcpConnectionsPerAsker) {
      this.options.refused();
      socket.on('error', () => undefined);
      socket.destroy();
      return;
    }
    this.perAsker.set(asker, own + 1);
    const conversation = new TcpConversation(socket, { ...this.options, idle: this.options.limits.tcpIdle });
    this.open.add(conversation);
    socket.once('close', () => {
      this.open.delete(conversation);
      const left = (this.perAsker.get(asker) ?? 1) - 1;
      if (left > 0) this.perAsker.set(asker, left);
      else this.perAsker.delete(asker);
    });
  }
}
