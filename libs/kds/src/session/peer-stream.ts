/** Why a stream is ended; the transport maps it to its own status. */
export type StreamEndReason =
  /** A newer session of the zone replaced it, or the operator closed it. */
  | 'superseded'
  /** This process shuts down. */
  | 'shutdown'
  /** A message cannot be decoded. */
  | 'malformed'
  /** The caller is authenticated but not authorised. */
  | 'refused'
  /** The caller is not authenticated, or no longer. */
  | 'unauthenticated'
  /** The store is unavailable or the index was reloaded; the peer may retry. */
  | 'unavailable'
  /** The peer exceeds a bound of the protocol or a rate. */
  | 'exhausted';

/** The events of a stream; called in order, never after `ended`. */
export interface StreamListener {
  message(bytes: Buffer): void;
  /** The buffer of `write` is empty again. */
  drain(): void;
  /** Called once, whichever side ended the stream. */
  ended(reason: string): void;
}

/** A stream of messages to and from one peer: over gRPC, or a pipe in a test. */
export interface PeerStream {
  /** Returns false if the message is buffered but the peer reads too slowly; wait for `drain`. */
  write(message: Buffer): boolean;
  /** As `write`, for the gzip members whose content is a message; absent if the peer does not read gzip. */
  readonly writeCompressed?: ((members: readonly Buffer[]) => boolean) | undefined;
  /** Ends the stream for both sides. Only the first call has an effect. */
  end(reason: StreamEndReason, detail: string): void;
}

/** A stream that delivers the peer's messages once it has a listener. */
export interface ListenedStream extends PeerStream {
  listen(listener: StreamListener): void;
  /** Stops reading, so that flow control delays the peer; one message may still arrive. Idempotent. */
  pause(): void;
  /** Resumes reading. Idempotent. */
  resume(): void;
}
