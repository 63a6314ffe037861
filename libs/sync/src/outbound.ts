/** What a peer was told of one resource. */
export interface LastSent {
  /** Name on the wire, unique within a kind. */
  readonly wireKey: string;
  /** Equal versions mean equal content. */
  readonly version: string;
}

/** One resource ready to leave. */
export interface OutboundResource extends LastSent {
  /** Bytes on the wire. */
  readonly size: number;
}

/** What may be told to the peer of one stream right now. */
export interface OutboundSource<S extends OutboundResource> {
  /** Identity keys of everything of a kind that the peer may hold. */
  keys(kind: string): Iterable<string>;
  /** A resource as it would be sent now; undefined when the peer may not hold it or it does not exist. */
  get(key: string): S | undefined;
  /** Identity keys of a kind that changed or went after `revision` and that the peer may ever have held. */
  keysSince(kind: string, revision: number): Iterable<string>;
  /** Revision of the index that all this is read from. */
  revision(): number;
  /** ms since 1970. */
  now(): number;
}

/** How messages of a stream may be cut. */
export interface MessageLimits {
  /** Largest sum of resource sizes in one message, bytes; one resource may exceed it. */
  readonly bytes: number;
  /** Whether the peer takes a first state in pieces (cw-chunk); else that goes in one message of any size. */
  readonly chunked: boolean;
}
