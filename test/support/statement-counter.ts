import { connect, createServer, type Server, type Socket } from 'node:net';

/** Counts the statements that a process sends to its database: the process gets `url` in place of the server's. */
export class StatementCounter {
  /** Texts of statements, once for each time that one was sent. */
  sent: string[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  private url = '';

  private constructor(private readonly target: URL) {
    this.server = createServer((socket) => this.accept(socket));
  }

  static async before(databaseUrl: string): Promise<StatementCounter> {
    const counter = new StatementCounter(new URL(databaseUrl));
    await new Promise<void>((resolve) => counter.server.listen(0, '127.0.0.1', resolve));
    const address = counter.server.address();
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}`;
    counter.url = url.href;
    return counter;
  }

  get databaseUrl(): string {
    return this.url;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private accept(socket: Socket): void {
    const upstream = connect(Number(this.target.port), this.target.hostname);
    const reader = new FrontendReader((text) => this.sent.push(text));
    socket.on('data', (bytes) => reader.take(bytes));
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      this.sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
    }
  }
}

/** The counters of the control planes of a mesh, by their names. */
export class StatementCounters extends Map<string, StatementCounter> {
  /** Returns the settings of a control plane whose statements are counted. */
  async countedDatabase(mesh: { databaseUrl(name: string): Promise<string> }, name: string) {
    const counter = await StatementCounter.before(await mesh.databaseUrl(name));
    this.set(name, counter);
    return { DATABASE_URL: counter.databaseUrl };
  }

  /** Forgets what was sent so far. */
  reset(): void {
    for (const counter of this.values()) counter.sent = [];
  }

  async close(): Promise<void> {
    for (const counter of this.values()) await counter.close();
  }
}

/** Reads the messages of one connection to Postgres, version 3 of its protocol, without TLS. */
class FrontendReader {
  private rest = Buffer.alloc(0);
  private hasBegun = false;
  /** Texts by the name of a prepared statement, and the name of the one that was bound last. */
  private readonly texts = new Map<string, string>();
  private bound = '';

  constructor(private readonly onStatement: (text: string) => void) {}

  take(bytes: Buffer): void {
    this.rest = Buffer.concat([this.rest, bytes]);
    for (;;) {
      // The first message has no type.
      const type = this.hasBegun ? String.fromCharCode(this.rest[0] ?? 0) : '';
      const start = type.length;
      if (this.rest.length < start + 4) return;
      const end = start + this.rest.readUInt32BE(start);
      if (this.rest.length < end) return;
      this.read(type, this.rest.subarray(start + 4, end));
      this.rest = this.rest.subarray(end);
      this.hasBegun = true;
    }
  }

  private read(type: string, body: Buffer): void {
    const [first = '', second = ''] = body.toString('latin1').split('\0');
    if (type === 'Q') this.onStatement(first);
    if (type === 'P') this.texts.set(first, second);
    if (type === 'B') this.bound = second;
    if (type === 'E') this.onStatement(this.texts.get(this.bound) ?? '');
  }
}
