import { connect, type Socket } from 'node:net';
import { ADMIN_HEADERS } from '../../test/support/admin-credential';

interface PendingAnswer {
  readonly resolve: (status: number) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One HTTP/1.1 connection of an administrator that is kept, with one request at a time. It does no more than a load generator must (node:http
 * takes several times the CPU), so that on a machine shared with the servers most of the time is theirs.
 */
export class KeptConnection {
  private readonly socket: Socket;
  private pending: PendingAnswer | undefined;
  private received = '';

  constructor(private readonly base: URL) {
    this.socket = connect(Number(base.port), base.hostname).setNoDelay();
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text: string) => this.take(text));
    this.socket.on('error', (error) => this.pending?.reject(error));
    this.socket.on('close', () => this.pending?.reject(new Error('the server closed the connection')));
  }

  /** Sends JSON with PUT; resolves with the status once the whole answer has arrived. */
  put(path: string, body: unknown): Promise<number> {
    const bytes = Buffer.from(JSON.stringify(body));
    const head = `PUT ${path} HTTP/1.1\r\nhost: ${this.base.host}\r\nauthorization: ${ADMIN_HEADERS.authorization}\r\ncontent-type: application/json\r\ncontent-length: ${bytes.length}\r\n\r\n`;
    return new Promise((resolve, reject) => {
      this.pending = { resolve, reject };
      this.socket.write(Buffer.concat([Buffer.from(head), bytes]));
    });
  }

  close(): void {
    this.socket.destroy();
  }

  private take(text: string): void {
    this.received += text;
    const end = this.received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.received.slice(0, end);
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? NaN);
    if (Number.isNaN(length)) throw new Error(`an answer without a length:\n${head}`);
    if (this.received.length < end + 4 + length) return;
    this.received = '';
    const { pending } = this;
    this.pending = undefined;
    pending?.resolve(Number(head.slice(9, 12)));
  }
}
