import type { Http2Streams } from '@causeway/grpc-server';
import type { Clock } from '@causeway/runtime';
import { Metadata } from '@grpc/grpc-js';
import { SlowReaderError } from './call-error';

/** The server's side of a call whose response is a stream of encoded messages. */
export interface ByteStreamCall {
  readonly metadata: Metadata;
  sendMetadata(metadata: Metadata): void;
  write(message: Buffer, done: () => void): boolean;
  end(): unknown;
  emit(event: 'error', error: object): boolean;
}

/** Converts an error to the end of a call. */
export type ErrorOfCall = (error: unknown) => object;

/** Unsent bytes of a call above which its writer waits. */
const MAX_UNSENT = 64 * 1024;

/** Timeout of a reader that reads nothing, ms. */
const STALL_TIMEOUT = 30_000;

/**
 * Writes encoded messages as fast as the reader reads. grpc-js would buffer 16 messages of any size; here at most 64
 * KiB and one message wait.
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
    /** Aborts when the reader disconnects or loses access, and when the server shuts down. */
    readonly gone: AbortSignal,
  ) {}

  /** Returns false if the reader is slow; then wait for `drained`. */
  write(message: Buffer): boolean {
    if (this.over) return true;
    this.unsent += message.length;
    this.call.write(message, () => this.sent(message.length));
    return this.unsent <= MAX_UNSENT;
  }

  /**
   * As `write`, for one or several framed messages (`frameMessage`); bypasses grpc-js, which copies each message per reader: many
   * readers share the buffer. Use only one of the two on a call.
   */
  writeFrames(frames: Buffer): boolean {
    if (this.over) return true;
    if (!this.begun) this.call.sendMetadata(new Metadata());
    this.begun = true;
    this.unsent += frames.length;
    this.parts.streams.write(this.call.metadata, frames, () => this.sent(frames.length));
    return this.unsent <= MAX_UNSENT;
  }

  /** Calls back once when the reader has read enough. */
  drained(callback: () => void): void {
    if (this.unsent <= MAX_UNSENT) callback();
    else this.waiting = callback;
  }

  /** Limits the total time of all later `send` calls to `ms`, so that the resources of the answer are not held longer. */
  limit(ms: number): void {
    this.latest = this.parts.clock.elapsed() + ms;
  }

  /** Writes and waits for the reader. Rejects with SlowReaderError after 30 s or at the `limit`, and with the reason of `gone`. */
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
      const reason = left < STALL_TIMEOUT ? 'the client read too slowly' : 'the client did not read for 30 s';
      const timer = clock.after(Math.min(STALL_TIMEOUT, left), () => settle(() => reject(new SlowReaderError(reason))));
      this.gone.addEventListener('abort', abort, { once: true });
      this.drained(() => settle(resolve));
    });
    this.gone.throwIfAborted();
  }

  /** Ends the stream of a reader that lost access, or of one that does not read, without waiting for it. */
  refuse(reason: Error): void {
    const isStuck = this.unsent > MAX_UNSENT;
    this.end(isStuck ? new SlowReaderError('the client does not read', { cause: reason }) : reason);
  }

  /** Ends the stream, normally or with an error. Drops what a slow reader has not read. */
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
