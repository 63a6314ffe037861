import { Unavailable } from '@causeway/resources';
import { withTimeout, type Clock } from '@causeway/runtime';
import type { FastifyReply } from 'fastify';

/** Timeout for a client to continue reading, ms. */
const STALL = 30_000;

/** Headers of an answer in JSON lines that is read while it is written. */
const HEADERS = {
  'content-type': 'application/x-ndjson; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

/** An answer in JSON lines. The first line takes over the response from Nest: later failures must be lines as well. */
export class LineStream {
  private open = false;
  /** Deadline by `Clock.elapsed`. */
  private latest = Infinity;

  constructor(
    private readonly reply: FastifyReply,
    private readonly clock: Clock,
  ) {}

  /** True once a line was written: the status has been sent. */
  get isOpen(): boolean {
    return this.open;
  }

  /** Limits the total time of all further writes to `ms`, because the answer holds resources until its end. */
  limit(ms: number): void {
    this.latest = this.clock.elapsed() + ms;
  }

  /** Writes a line without waiting until it is read: for a few short ones. */
  writeNow(line: object): void {
    this.begin();
    this.reply.raw.write(`${JSON.stringify(line)}\n`);
  }

  /** Writes a line; resolves when the client keeps up. Rejects if the client is gone, does not read for 30 s, or `limit` is over. */
  write(line: object): Promise<void> {
    return this.writeText(`${JSON.stringify(line)}\n`);
  }

  /** Like `write`, for whole lines with their ends. */
  async writeText(text: string): Promise<void> {
    this.begin();
    const { raw } = this.reply;
    if (raw.destroyed) throw new Unavailable('the client is gone');
    if (raw.write(text)) return;
    const drained = new Promise<void>((resolve, reject) => {
      const settle = (): void => {
        raw.off('drain', settle).off('close', settle);
        if (raw.destroyed) reject(new Unavailable('the client is gone'));
        else resolve();
      };
      raw.on('drain', settle).on('close', settle);
    });
    await withTimeout(this.clock, Math.min(STALL, Math.max(0, this.latest - this.clock.elapsed())), drained);
  }

  end(): void {
    this.reply.raw.end();
  }

  /** Ends the connection: the answer is incomplete. */
  destroy(): void {
    this.reply.raw.destroy();
  }

  private begin(): void {
    if (this.open) return;
    this.open = true;
    this.reply.hijack();
    this.reply.raw.on('error', () => undefined).writeHead(200, HEADERS);
  }
}
