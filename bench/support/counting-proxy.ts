import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { GrpcMessages } from './grpc-messages';

const HTTP2_PREFACE = 24;

/** Bytes and messages that passed since the last call of `take`. */
export interface Passed {
  readonly bytes_down: number;
  readonly bytes_up: number;
  readonly messages_down: number;
  readonly messages_up: number;
}

const NOTHING: Passed = { bytes_down: 0, bytes_up: 0, messages_down: 0, messages_up: 0 };

/** A TCP proxy on a free port of 127.0.0.1 that counts what passes to and from a gRPC server without TLS. */
export class CountingProxy {
  private readonly sockets = new Set<Socket>();
  private passed: { -readonly [Key in keyof Passed]: Passed[Key] } = { ...NOTHING };
  /** When the newest connection came in; `performance.now()`. */
  connectedAt = 0;
  /** When anything passed last. */
  passedAt = 0;

  private constructor(
    private readonly target: { readonly host: string; readonly port: number },
    private readonly server: Server,
  ) {
    server.on('connection', (socket) => this.serve(socket));
  }

  /** @param address `host:port` of the server. */
  static async open(address: string): Promise<CountingProxy> {
    const [host = '', port = ''] = address.split(':');
    const proxy = new CountingProxy({ host, port: Number(port) }, createServer({ noDelay: true }));
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  /** `host:port` to connect to instead. */
  get address(): string {
    const address = this.server.address();
    return typeof address === 'object' && address ? `127.0.0.1:${address.port}` : '';
  }

  /** Returns what passed since the last call. */
  take(): Passed {
    const passed = this.passed;
    this.passed = { ...NOTHING };
    return passed;
  }

  /** Ends all connections; new ones are taken. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  close(): void {
    this.server.close();
    this.cut();
  }

  private serve(client: Socket): void {
    this.connectedAt = performance.now();
    const server = connect({ ...this.target, noDelay: true });
    this.pass(client, server, new GrpcMessages(HTTP2_PREFACE), 'up');
    this.pass(server, client, new GrpcMessages(0), 'down');
  }

  private pass(from: Socket, to: Socket, messages: GrpcMessages, direction: 'up' | 'down'): void {
    this.sockets.add(from);
    from.on('data', (bytes: Buffer) => {
      const before = messages.count;
      messages.take(bytes);
      this.passed[`bytes_${direction}`] += bytes.length;
      this.passed[`messages_${direction}`] += messages.count - before;
      this.passedAt = performance.now();
      if (to.writable && !to.write(bytes)) from.pause();
    });
    to.on('drain', () => from.resume());
    from.on('error', () => undefined); // its close follows
    from.on('close', () => {
      this.sockets.delete(from);
      to.destroy();
    });
  }
}
