import type { Socket } from 'node:net';
import type { Clock, Timer } from '@causeway/runtime';
import { FrameReader, frame } from '../wire/tcp-frames';
import type { PacketHandler } from './udp-listener';

/** What a conversation works with. */
export interface TcpConnectionOptions {
  readonly respond: PacketHandler;
  readonly clock: Clock;
  /** ms without a whole question until it is ended. */
  readonly idle: number;
}

const MOST_UNDER_WAY = 100;

/** One connection: questions may follow each other without waiting, answers come as they are ready (RFC 7766 §6.2). */
export class TcpConnection {
  private readonly reader = new FrameReader();
  private readonly address: string;
  private underWay = 0;
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

  end(): void {
    this.socket.destroy();
  }

  private receive(chunk: Buffer): void {
    this.socket.cork();
    const questions = this.reader.read(chunk);
    for (const packet of questions) this.answer(packet);
    this.socket.uncork();
    if (questions.length > 0) this.restartTimer();
    this.pauseOrResume();
  }

  private answer(packet: Buffer): void {
    const outcome = this.options.respond(packet, { udp: false, address: this.address });
    // What cannot be answered at all is no DNS: nothing after it can be trusted.
    if (outcome === undefined) return this.end();
    if (Buffer.isBuffer(outcome)) return this.send(outcome);
    this.underWay += 1;
    void outcome.then((answer) => {
      this.underWay -= 1;
      this.send(answer);
      this.pauseOrResume();
    });
  }

  private send(answer: Buffer): void {
    if (this.socket.writable) this.socket.write(frame(answer));
  }

  /** Reads on only while the asker takes its answers. */
  private pauseOrResume(): void {
    if (this.socket.writableNeedDrain || this.underWay >= MOST_UNDER_WAY) this.socket.pause();
    else this.socket.resume();
  }

  private restartTimer(): void {
    this.timer.cancel();
    this.timer = this.startTimer();
  }

  private startTimer(): Timer {
    return this.options.clock.after(this.options.idle, () => {
      if (this.underWay > 0) return this.restartTimer();
      this.socket.destroy();
    });
  }
}
