/** Why a stream is ended; adapters map it to their own status once. */
export type EndReason =
  /** A newer session of the zone is there, or the operator wants it closed. */
  | 'superseded'
  /** This process stops. */
  | 'shutdown'
  /** What was read makes no sense. */
  | 'malformed'
  /** The caller is known and not allowed. */
  | 'refused'
  /** The caller did not prove who it is, or no longer does. */
  | 'unauthenticated'
  /** The store is away or the index is loaded anew: come again. */
  | 'unavailable'
  /** The peer goes beyond a bound of the protocol, or asks too often. */
  | 'exhausted';

/** What happens on a stream; called in order, never after `ended`. */
export interface StreamListener {
  message(bytes: Buffer): void;
  /** The buffer of `write` is empty again. */
  drain(): void;
  /** Once, by whichever side. */
  ended(reason: string): void;
}

/** A stream of messages to and from one peer: gRPC's, or a pipe in a test. */
export interface PeerStream {
  /** False: buffered, but the peer reads too slowly; wait for `drain`. */
  write(message: Buffer): boolean;
  /** Ends it for both sides; nothing after the first call has an effect. */
  end(reason: EndReason, detail: string): void;
}

/** A stream that delivers what the peer sends once somebody listens. */
export interface ListenedStream extends PeerStream {
  listen(listener: StreamListener): void;
  /** Reads no further message, so that the transport holds the peer back; one may still be on its way. Idempotent. */
  pause(): void;
  /** Reads on. Idempotent. */
  resume(): void;
}
