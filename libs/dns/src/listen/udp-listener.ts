import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import type { DnsClient, ReplyResult } from '../answer/responder';

/** What a door does with a packet. */
export type PacketHandler = (packet: Buffer, arrival: DnsClient) => ReplyResult;

const RECEIVE_BUFFER = 1024 * 1024;

/** Listens for datagrams and sends back what `respond` gives. */
export class UdpListener {
  private constructor(
    private readonly socket: Socket,
    private readonly respond: PacketHandler,
  ) {}

  /** Rejects with the system's error when the address cannot be had. */
  static async open(
    at: { readonly host: string; readonly port: number },
    respond: PacketHandler,
  ): Promise<UdpListener> {
    const family = isIPv6(at.host) ? 6 : 4;
    const socket = createSocket({ type: `udp${family}`, lookup: lookupLiteral(family) });
    const door = new UdpListener(socket, respond);
    socket.on('message', (packet, from) => door.receive(packet, from));
    const listening = once(socket, 'listening');
    socket.bind({ address: at.host, port: at.port });
    try {
      await listening;
    } catch (error) {
      socket.close();
      throw error;
    }
    // An answer that cannot be sent is the asker's loss; it asks again.
    socket.on('error', () => undefined);
    enlarge(socket);
    return door;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.socket.close(() => resolve()));
  }

  private receive(packet: Buffer, from: RemoteInfo): void {
    // No one listens on port 0; only a forged packet comes from there.
    if (from.port === 0) return;
    const outcome = this.respond(packet, { udp: true, address: from.address });
    if (outcome === undefined) return;
    if (Buffer.isBuffer(outcome)) return this.send(outcome, from);
    void outcome.then((answer) => this.send(answer, from));
  }

  private send(answer: Buffer, to: RemoteInfo): void {
    try {
      this.socket.send(answer, to.port, to.address);
    } catch {
      // Closed meanwhile.
    }
  }
}

/**
 * Askers are addresses; Node would put each through its resolver, a turn of the loop later. All are of the socket's
 * family: to look at every one would cost as much as to write its answer.
 */
function lookupLiteral(family: 4 | 6) {
  return (
    address: string,
    _options: unknown,
    callback: (error: NodeJS.ErrnoException | null, address: string, family: number) => void,
  ): void => callback(null, address, family);
}

function enlarge(socket: Socket): void {
  try {
    socket.setRecvBufferSize(RECEIVE_BUFFER);
  } catch {
    // The system allows less; it then keeps its default.
  }
}
