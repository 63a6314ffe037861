import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { status, type ClientDuplexStream, type ServerDuplexStream } from '@grpc/grpc-js';
import { frameCompressed, frameMessage } from '@causeway/grpc-server';
import { describeCallFailure, LOST, ZONE_ENDED } from './lost-connection';
import type { PeerStream, StreamEndReason, ListenedStream, StreamListener } from './peer-stream';

/** Never OK: a Kuma zone whose stream ends with OK does not reconnect (docs/reference/kds-wire.md §1.4). */
const CODES: Readonly<Record<StreamEndReason, status>> = {
  superseded: status.CANCELLED,
  shutdown: status.UNAVAILABLE,
  malformed: status.INVALID_ARGUMENT,
  refused: status.PERMISSION_DENIED,
  unauthenticated: status.UNAUTHENTICATED,
  unavailable: status.UNAVAILABLE,
  exhausted: status.RESOURCE_EXHAUSTED,
};

/**
 * Decides whether a call reads its next message. `pause` of the call itself is not enough: a paused call of grpc-js still
 * reads 16 messages of any size. The HTTP/2 window of a call that is not read closes, and the peer waits.
 */
class ReadGate {
  private isOpen = true;
  /** Whether the call has requested its next message, which is not read yet. */
  private isDue = false;
  private readonly read: () => void;

  constructor(call: Readable) {
    const read = call._read.bind(call);
    this.read = () => read(0);
    call._read = () => {
      if (this.isOpen) this.read();
      else this.isDue = true;
    };
  }

  close(): void {
    this.isOpen = false;
  }

  open(): void {
    this.isOpen = true;
    if (!this.isDue) return;
    this.isDue = false;
    this.read();
  }
}

/** Number of messages that the HTTP/2 stream may hold before the writer waits. */
const MAX_QUEUED = 16;

/** The HTTP/2 stream under a call of a zone, for messages framed here: grpc-js cannot send a compressed answer. */
export interface CallFrames {
  /** Writes framed messages, after the call's headers; the buffer is not copied. */
  write(frames: Buffer, done: () => void): void;
  /** Whether the zone reads messages that are compressed with gzip. */
  readonly acceptsGzip: boolean;
  /** Returns whether the connection of the call still stands. */
  isConnected(): boolean;
}

/** The global's side of a stream. */
export class ServerStream implements ListenedStream {
  readonly writeCompressed: PeerStream['writeCompressed'];
  private over = false;
  private queued = 0;
  private isFull = false;
  private listener: StreamListener | undefined;
  private readonly gate: ReadGate;

  constructor(
    private readonly call: ServerDuplexStream<Buffer, Buffer>,
    private readonly frames: CallFrames,
  ) {
    this.gate = new ReadGate(call);
    if (frames.acceptsGzip) this.writeCompressed = (members) => this.send(frameCompressed(members));
  }

  /** Starts to deliver the zone's messages. */
  listen(listener: StreamListener): void {
    this.listener = listener;
    const ended = (reason: string): void => {
      if (this.over) return;
      this.over = true;
      listener.ended(reason);
    };
    this.call.on('data', (bytes: Buffer) => {
      if (!this.over) listener.message(bytes);
    });
    this.call.on('cancelled', () => ended(this.frames.isConnected() ? ZONE_ENDED : LOST));
    this.call.on('error', (error) => ended(error.message));
    this.call.on('end', () => {
      // A connection that is gone ends its streams as a zone does.
      this.end('unavailable', this.frames.isConnected() ? ZONE_ENDED : LOST);
      ended('ended by the zone');
    });
  }

  write(message: Buffer): boolean {
    return this.send(frameMessage(message));
  }

  pause(): void {
    this.gate.close();
  }

  resume(): void {
    this.gate.open();
  }

  end(reason: StreamEndReason, detail: string): void {
    if (this.over) return;
    this.call.emit('error', Object.assign(new Error(detail), { code: CODES[reason], details: detail }));
  }

  private send(frame: Buffer): boolean {
    if (this.over) return true;
    this.queued += 1;
    this.frames.write(frame, () => this.sent());
    this.isFull = this.queued >= MAX_QUEUED;
    return !this.isFull;
  }

  private sent(): void {
    this.queued -= 1;
    if (!this.isFull || this.queued > 0) return;
    this.isFull = false;
    this.listener?.drain();
  }
}

/** A zone's side of a stream. */
export class ClientStream implements ListenedStream {
  private over = false;
  /** The call has ended, whichever side ended it. */
  private ended = false;
  private listener: StreamListener | undefined;
  private readonly gate: ReadGate;

  constructor(private readonly call: ClientDuplexStream<Buffer, Buffer>) {
    this.gate = new ReadGate(call);
  }

  /** Starts to deliver the global's messages. */
  listen(listener: StreamListener): void {
    this.listener = listener;
    this.call.on('data', (bytes: Buffer) => {
      if (!this.over) listener.message(bytes);
    });
    this.call.on('drain', () => listener.drain());
    this.call.on('error', (error) => this.gone(describeCallFailure(error.message)));
    this.call.on('end', () => this.gone('ended by the global'));
  }

  write(message: Buffer): boolean {
    return this.over || this.call.write(message);
  }

  pause(): void {
    this.gate.close();
  }

  resume(): void {
    this.gate.open();
  }

  end(_reason: StreamEndReason, detail: string): void {
    if (this.over) return;
    this.finish(detail);
    // Deferred out of callbacks of the connection: in Node 20, HTTP/2 otherwise never returns from resetting a stream
    // that the peer ends at the same moment.
    void nextTurn().then(() => {
      if (!this.ended) this.call.cancel();
    });
  }

  private gone(reason: string): void {
    this.ended = true;
    this.finish(reason);
  }

  private finish(reason: string): void {
    if (this.over) return;
    this.over = true;
    this.listener?.ended(reason);
  }
}
