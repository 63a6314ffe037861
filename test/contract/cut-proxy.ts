import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A TCP way to a server that can be cut: open connections end, and new ones are refused until it is whole again. */
export class CutProxy {
  private readonly sockets = new Set<Socket>();
  private whole = true;

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async open(to: number): Promise<CutProxy> {
    let proxy: CutProxy | undefined = undefined;
    const server = createServer((socket) => proxy?.pass(socket, to));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    proxy = new CutProxy(server, (server.address() as AddressInfo).port);
    return proxy;
  }

  cut(): void {
    this.whole = false;
    for (const socket of this.sockets) socket.destroy();
  }

  mend(): void {
    this.whole = true;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((done) => this.server.close(() => done()));
  }

  private pass(socket: Socket, to: number): void {
    socket.on('error', () => undefined);
    if (!this.whole) return void socket.destroy();
    const onward = connect(to, '127.0.0.1');
    onward.on('error', () => undefined);
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      this.sockets.add(one);
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
