import { status, type ClientDuplexStream, type ServerDuplexStream } from '@grpc/grpc-js';
import type { EndReason, ListenedStream, StreamListener } from './peer-stream';

/** Never OK: a Kuma zone whose stream ends with OK does not come back (kds.md §1.4). */
const CODES: Readonly<Record<EndReason, status>> = {
  superseded: status.CANCELLED,
  shutdown: status.UNAVAILABLE,
  malformed: status.INVALID_ARGUMENT,
  refused: status.PERMISSION_DENIED,
  unauthenticated: status.UNAUTHENTICATED,
  unavailable: status.UNAVAILABLE,
};

/** The global's end of a stream. */
export class ServerStream implements ListenedStream {
  private over = false;

  constructor(private readonly call: ServerDuplexStream<Buffer, Buffer>) {}

  /** Begins to deliver what the zone sends. */
  listen(listener: StreamListener): void {
    const ended = (reason: string): void => {
      if (this.over) return;
      this.over = true;
      listener.ended(reason);
    };
    this.call.on('data', (bytes: Buffer) => {
      if (!this.over) listener.message(bytes);
    });
    this.call.on('drain', () => listener.drain());
    this.call.on('cancelled', () => ended('cancelled'));
    this.call.on('error', (error) => ended(error.message));
    this.call.on('end', () => {
      this.end('unavailable', 'the zone ended the stream');
      ended('ended by the zone');
    });
  }

  write(message: Buffer): boolean {
    return this.over || this.call.write(message);
  }

  end(reason: EndReason, detail: string): void {
    if (this.over) return;
    this.call.emit('error', Object.assign(new Error(detail), { code: CODES[reason], details: detail }));
  }
}

/** A zone's end of a stream. */
export class ClientStream implements ListenedStream {
  private over = false;
  private listener: StreamListener | undefined;

  constructor(private readonly call: ClientDuplexStream<Buffer, Buffer>) {}

  /** Begins to deliver what the global sends. */
  listen(listener: StreamListener): void {
    this.listener = listener;
    this.call.on('data', (bytes: Buffer) => {
      if (!this.over) listener.message(bytes);
    });
    this.call.on('drain', () => listener.drain());
    this.call.on('error', (error) => this.finish(error.message));
    this.call.on('end', () => this.finish('ended by the global'));
  }

  write(message: Buffer): boolean {
    return this.over || this.call.write(message);
  }

  end(_reason: EndReason, detail: string): void {
    if (this.over) return;
    this.call.cancel();
    this.finish(detail);
  }

  private finish(reason: string): void {
    if (this.over) return;
    this.over = true;
    this.listener?.ended(reason);
  }
}
