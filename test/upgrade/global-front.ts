import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** The one address of a control plane with several replicas: each connection goes to the next replica that takes it. */
export class GlobalFront {
  private readonly server: Server = createServer((socket) => void this.accept(socket));
  private readonly sockets = new Set<Socket>();
  private next = 0;

  /** `targets` are asked at each connection: `host:port` of the replicas that run. */
  constructor(private readonly targets: () => readonly string[]) {}

  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async accept(socket: Socket): Promise<void> {
    this.hold(socket);
    const targets = this.targets();
    this.next += 1;
    for (let n = 0; n < targets.length; n++) {
      const upstream = await this.reach(targets[(this.next + n) % targets.length] ?? '');
      if (!upstream) continue;
      socket.on('close', () => upstream.destroy());
      upstream.on('close', () => socket.destroy());
      if (socket.destroyed) upstream.destroy();
      else socket.pipe(upstream).pipe(socket);
      return;
    }
    socket.destroy();
  }

  private reach(target: string): Promise<Socket | undefined> {
    const [host = '', port] = target.split(':');
    return new Promise((resolve) => {
      const upstream = connect(Number(port), host, () => resolve(this.hold(upstream)));
      upstream.on('error', () => resolve(undefined));
    });
  }

  private hold(socket: Socket): Socket {
    this.sockets.add(socket);
    socket.setNoDelay(true);
    return socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
  }
}
