import { connect, createServer, type Server, type Socket } from 'node:net';

/** The state of a link: how it carries bytes now. */
type Carriage =
  | { readonly type: 'open' }
  /** Connections are refused. */
  | { readonly type: 'cut' }
  /** Messages are lost without an error. */
  | { readonly type: 'silent' }
  /** Bytes arrive later, in order. */
  | { readonly type: 'slow'; readonly ms: number };

/** A way to a server on this machine: a proxy for TCP that can be cut, slowed, half opened and led elsewhere. */
export class Link {
  private readonly server: Server = createServer({ pauseOnConnect: false }, (socket) => this.accept(socket));
  private readonly sockets = new Set<Socket>();
  private carriage: Carriage = { type: 'open' };
  /** The port that it forwards to; 0 before it is set. */
  private target = 0;
  port = 0;

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const address = this.server.address();
    if (address !== null && typeof address === 'object') this.port = address.port;
  }

  /** Breaks open connections, and refuses new ones until `heal`. */
  cut(): void {
    this.carriage = { type: 'cut' };
    this.reset();
  }

  /** As `cut`, but connections end as if each side had closed them. */
  end(): void {
    this.carriage = { type: 'cut' };
    for (const socket of this.sockets) socket.end();
  }

  /** Open connections stay open and carry nothing any more; new ones neither. */
  silence(): void {
    this.carriage = { type: 'silent' };
  }

  slow(ms: number): void {
    this.carriage = { type: 'slow', ms };
  }

  /** Connections that are open end, and the next go to this port of this machine. */
  lead(target: number): void {
    this.target = target;
    this.reset();
  }

  /** Carries again. Connections that have lost bytes are reset, but for those that `keepSilent` leaves to their ends to find out. */
  heal(keepSilent = false): void {
    const lossy = this.carriage.type === 'silent';
    this.carriage = { type: 'open' };
    if (!lossy) return;
    if (keepSilent) for (const socket of this.sockets) socket.removeAllListeners('data').resume();
    else this.reset();
  }

  async close(): Promise<void> {
    this.reset();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private accept(socket: Socket): void {
    if (this.carriage.type === 'cut' || this.target === 0) return void socket.destroy();
    const upstream = connect(this.target, '127.0.0.1');
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      this.sockets.add(from);
      from.setNoDelay(true);
      from.on('data', (bytes) => this.carry(bytes, to));
      from.on('error', () => undefined);
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
    }
  }

  private carry(bytes: Buffer, to: Socket): void {
    switch (this.carriage.type) {
      case 'open':
        return void to.write(bytes);
      case 'slow':
        return void setTimeout(() => void (to.destroyed || to.write(bytes)), this.carriage.ms);
      case 'silent':
      case 'cut':
        return undefined;
    }
  }

  private reset(): void {
    for (const socket of this.sockets) socket.resetAndDestroy();
  }
}
