import type { Http2Streams } from '@causeway/grpc-server';
import type { Clock } from '@causeway/runtime';
import { Metadata } from '@grpc/grpc-js';
import { SlowReaderError } from './call-error';

/** The server's end of a call whose response is a stream of encoded messages. */
export interface ByteStreamCall {
  readonly metadata: Metadata;
  sendMetadata(metadata: Metadata): void;
  write(message: Buffer, done: () => void): boolean;
  end(): unknown;
  emit(event: 'error', error: object): boolean;
}

/** Converts an error to the end of a call. */
export type ErrorOfCall = (error: unknown) => object;

/** Bytes of a call that may be unsent before its writer waits. */
const MAX_UNSENT = 64 * 1024;

/** Timeout of a reader that takes nothing, ms. */
const STALL = 30_000;

/**
 * Writes encoded messages as fast as the reader takes them. grpc-js would buffer 16 messages of any size; here at most 64 KiB
 * and one message wait.
 */
export class StreamWriter {
  private unsent = 0;
  private waiting: (() => void) | undefined;
  private over = false;
  private begun = false;
  /** By `Clock.elapsed`. */
  private latest = Infinity;

  constructor(
    private readonly call: ByteStreamCall,
    private readonly parts: { readonly streams: Http2Streams; readonly clock: Clock; readonly errorOf: ErrorOfCall },
    /** Aborts when the reader is gone, when its caller may not have the answer any more, and when the server ends. */
    readonly gone: AbortSignal,
  ) {}

  /** False when the reader lags behind; wait for `drained` then. */
  write(message: Buffer): boolean {
    if (this.over) return true;
    this.unsent += message.length;
    this.call.write(message, () => this.sent(message.length));
    return this.unsent <= MAX_UNSENT;
  }

  /**
   * As `write`, of one or several messages that are `framed`, past grpc-js, which copies each message for each reader: many
   * readers share the buffer. A call is written to by one of the two.
   */
  writeFrames(frames: Buffer): boolean {
    if (this.over) return true;
    if (!this.begun) this.call.sendMetadata(new Metadata());
    this.begun = true;
    this.unsent += frames.length;
    this.parts.streams.write(this.call.metadata, frames, () => this.sent(frames.length));
    return this.unsent <= MAX_UNSENT;
  }

  /** Calls back once when the reader has taken enough. */
  drained(callback: () => void): void {
    if (this.unsent <= MAX_UNSENT) callback();
    else this.waiting = callback;
  }

  /** From now on all `send` together may take `ms`: what the answer holds is not held for longer. */
  limit(ms: number): void {
    this.latest = this.parts.clock.elapsed() + ms;
  }

  /** Writes and waits for the reader. Rejects with SlowReaderError after 30 s or by `limit`, and with the reason of `gone`. */
  async send(message: Buffer): Promise<void> {
    this.gone.throwIfAborted();
    if (this.write(message)) return;
    await new Promise<void>((resolve, reject) => {
      const settle = (end: () => void): void => {
        timer.cancel();
        this.waiting = undefined;
        this.gone.removeEventListener('abort', abort);
        end();
      };
      const abort = (): void => settle(resolve);
      const { clock } = this.parts;
      const left = Math.max(0, this.latest - clock.elapsed());
      const reason = left < STALL ? 'the client read too slowly' : 'the client did not read for 30 s';
      const timer = clock.after(Math.min(STALL, left), () => settle(() => reject(new SlowReaderError(reason))));
      this.gone.addEventListener('abort', abort, { once: true });
      this.drained(() => settle(resolve));
    });
    this.gone.throwIfAborted();
  }

  /** Ends the stream of a reader that may not have it any more; of one that does not read, without waiting for it. */
  refuse(reason: Error): void {
    const isStuck = this.unsent > MAX_UNSENT;
    this.end(isStuck ? new SlowReaderError('the client does not read', { cause: reason }) : reason);
  }

  /** Ends the stream: well, or with an error. What a slow reader has not taken is dropped. */
  end(error?: unknown): void {
    if (this.over) return;
    this.over = true;
    if (error instanceof SlowReaderError) return this.parts.streams.reset(this.call.metadata);
    if (error === undefined) this.call.end();
    else this.call.emit('error', this.parts.errorOf(error));
  }

  private sent(bytes: number): void {
    this.unsent -= bytes;
    if (this.unsent > MAX_UNSENT) return;
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.();
  }
}
