import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import type { DnsClient, ReplyResult } from '../answer/responder';

/** Handles one packet of a listener. */
export type PacketHandler = (packet: Buffer, client: DnsClient) => ReplyResult;

const RECEIVE_BUFFER = 1024 * 1024;

/** A UDP socket that answers each datagram with what `respond` returns. */
export class UdpListener {
  private constructor(
    private readonly socket: Socket,
    private readonly respond: PacketHandler,
  ) {}

  /** Rejects with the system's error if the address cannot be bound. */
  static async open(
    at: { readonly host: string; readonly port: number },
    respond: PacketHandler,
  ): Promise<UdpListener> {
    const family = isIPv6(at.host) ? 6 : 4;
    const socket = createSocket({ type: `udp${family}`, lookup: lookupLiteral(family) });
    const listener = new UdpListener(socket, respond);
    socket.on('message', (packet, from) => listener.receive(packet, from));
    const listening = once(socket, 'listening');
    socket.bind({ address: at.host, port: at.port });
    try {
      await listening;
    } catch (error) {
      socket.close();
      throw error;
    }
    // An answer that cannot be sent is lost; the client asks again.
    socket.on('error', () => undefined);
    enlargeReceiveBuffer(socket);
    return listener;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.socket.close(() => resolve()));
  }

  private receive(packet: Buffer, from: RemoteInfo): void {
    // Nobody listens on port 0: the packet is forged.
    if (from.port === 0) return;
    const reply = this.respond(packet, { udp: true, address: from.address });
    if (reply === undefined) return;
    if (Buffer.isBuffer(reply)) return this.send(reply, from);
    void reply.then((answer) => this.send(answer, from));
  }

  private send(answer: Buffer, to: RemoteInfo): void {
    try {
      this.socket.send(answer, to.port, to.address);
    } catch {
      // The socket has been closed in the meantime.
    }
  }
}

/**
 * Returns a lookup that accepts every address unchanged: Node resolves each destination, which costs one turn of the
 * event loop. All clients have the socket's family, so the address is not checked; a check would cost as much as
 * writing the answer.
 */
function lookupLiteral(family: 4 | 6) {
  return (
    address: string,
    _options: unknown,
    callback: (error: NodeJS.ErrnoException | null, address: string, family: number) => void,
  ): void => callback(null, address, family);
}

function enlargeReceiveBuffer(socket: Socket): void {
  try {
    socket.setRecvBufferSize(RECEIVE_BUFFER);
  } catch {
    // The system's limit is lower; the socket keeps the default.
  }
}
