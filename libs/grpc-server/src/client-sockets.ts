import type { Clock } from '@causeway/runtime';
import type { ChannelCredentials } from '@grpc/grpc-js';
import type { Socket } from 'node:net';

type CreateConnector = ChannelCredentials['_createSecureConnector'];
type Connector = ReturnType<CreateConnector>;

/** Timeout for flushing the last written bytes, ms. */
const FLUSH_TIMEOUT = 1_000;

/**
 * Tracks the sockets of one gRPC client and ends them with it. grpc-js 1.14.7 keeps a socket open forever when its
 * client is closed before the peer's HTTP/2 SETTINGS arrive: each attempt to a peer that hangs would leak a socket.
 */
export class ClientSockets {
  /** Channel credentials for the client. */
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
      return withMethod(connector, 'connect', connect);
    };
    this.credentials = withMethod(credentials, '_createSecureConnector', create);
  }

  /** Call it after closing the client: sockets that the client leaves open are ended a second later. */
  end(): void {
    this.isEnded = true;
    this.clock.after(FLUSH_TIMEOUT, () => {
      for (const socket of this.sockets) socket.destroy();
    });
  }

  private add(socket: Socket): void {
    if (this.isEnded) return void socket.destroy();
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
  }
}

/** Returns the object with one method replaced. */
function withMethod<T extends object, K extends keyof T>(original: T, method: K, replacement: T[K]): T {
  return new Proxy(original, {
    get: (target, key): unknown => (key === method ? replacement : Reflect.get(target, key)),
  });
}
