import type { Clock } from '@causeway/runtime';
import type { ChannelCredentials } from '@grpc/grpc-js';
import type { Socket } from 'node:net';

type CreateConnector = ChannelCredentials['_createSecureConnector'];
type Connector = ReturnType<CreateConnector>;

/** Timeout for the last written bytes to leave, ms. */
const LEAVING = 1_000;

/**
 * Knows the sockets of one gRPC client, so that they end with it. grpc-js 1.14.7 keeps a socket open for ever when its client is closed
 * before the peer has said its HTTP/2 settings: a peer that hangs would cost a socket each try.
 */
export class ClientSockets {
  /** For the client. */
  readonly credentials: ChannelCredentials;
  private readonly sockets = new Set<Socket>();
  private isEnded = false;

  constructor(
    credentials: ChannelCredentials,
    private readonly clock: Clock,
  ) {
    const create: CreateConnector = (...args) => {
      const connector = credentials._createSecureConnector(...args);
      const connect: Connector['connect'] = (socket) => {
        this.add(socket);
        return connector.connect(socket);
      };
      return derivedFrom(connector, 'connect', connect);
    };
    this.credentials = derivedFrom(credentials, '_createSecureConnector', create);
  }

  /** Call it when the client has been closed: sockets that it leaves open end a second later. */
  end(): void {
    this.isEnded = true;
    this.clock.after(LEAVING, () => {
      for (const socket of this.sockets) socket.destroy();
    });
  }

  private add(socket: Socket): void {
    if (this.isEnded) return void socket.destroy();
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
  }
}

/** The same object but for one of its methods. */
function derivedFrom<T extends object, K extends keyof T>(original: T, method: K, replacement: T[K]): T {
  return new Proxy(original, {
    get: (target, key): unknown => (key === method ? replacement : Reflect.get(target, key)),
  });
}
