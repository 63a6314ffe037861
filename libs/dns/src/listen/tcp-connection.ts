import type { Socket } from 'node:net';
import type { Clock, Timer } from '@causeway/runtime';
import { FrameReader, frameMessage } from '../wire/tcp-frames';
import type { PacketHandler } from './udp-listener';

/** Dependencies of a connection. */
export interface TcpConnectionOptions {
  readonly respond: PacketHandler;
  readonly clock: Clock;
  /** Idle timeout without a complete query, ms. */
  readonly idle: number;
}

const MAX_PENDING = 100;

/** One connection. Queries are pipelined, and answers are sent as they become ready (RFC 7766 §6.2). */
export class TcpConnection {
  private readonly reader = new FrameReader();
  private readonly address: string;
  /** Number of queries whose answer is still a promise. */
  private pending = 0;
  private timer: Timer;

  constructor(
    private readonly socket: Socket,
    private readonly options: TcpConnectionOptions,
  ) {
    this.address = socket.remoteAddress ?? '';
    this.timer = this.startTimer();
    socket.on('data', (chunk) => this.receive(chunk));
    socket.on('drain', () => this.pauseOrResume());
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.timer.cancel());
  }

  /** Closes the connection immediately. */
  end(): void {
    this.socket.destroy();
  }

  private receive(chunk: Buffer): void {
    this.socket.cork();
    const queries = this.reader.read(chunk);
    for (const packet of queries) this.answer(packet);
    this.socket.uncork();
    if (queries.length > 0) this.restartTimer();
    this.pauseOrResume();
  }

  private answer(packet: Buffer): void {
    const reply = this.options.respond(packet, { udp: false, address: this.address });
    // A packet that gets no answer is not DNS, so the rest of the stream cannot be trusted.
    if (reply === undefined) return this.end();
    if (Buffer.isBuffer(reply)) return this.send(reply);
    this.pending += 1;
    void reply.then((answer) => {
      this.pending -= 1;
      this.send(answer);
      this.pauseOrResume();
    });
  }

  private send(answer: Buffer): void {
    if (this.socket.writable) this.socket.write(frameMessage(answer));
  }

  /** Pauses reading while the client does not read its answers. */
  private pauseOrResume(): void {
    if (this.socket.writableNeedDrain || this.pending >= MAX_PENDING) this.socket.pause();
    else this.socket.resume();
  }

  private restartTimer(): void {
    this.timer.cancel();
    this.timer = this.startTimer();
  }

  private startTimer(): Timer {
    return this.options.clock.after(this.options.idle, () => {
      if (this.pending > 0) return this.restartTimer();
      this.socket.destroy();
    });
  }
}
