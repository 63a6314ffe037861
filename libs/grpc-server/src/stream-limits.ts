import type { Http2Session } from 'node:http2';
import { TokenBucket, TokenBuckets, type CallerLog, type Clock } from '@causeway/runtime';

/** Maximum rates of new HTTP/2 streams (gRPC calls): streams per second on average, with bursts of twice as many; 0 is no limit. */
export interface StreamRates {
  /** Per connection. Before valid credentials, a tenth of it (at least 20), without larger bursts. */
  readonly connection: number;
  /** For all unauthenticated connections of one address together. */
  readonly address: number;
}

export const DEFAULT_STREAM_RATES: StreamRates = { connection: 2_000, address: 500 };

const BURST = 2;
/** Share of its rate that an unauthenticated connection has, on average and in bursts. */
const UNAUTHENTICATED_SHARE = 0.1;
const MIN_UNAUTHENTICATED = 20;

const PREFACE_LENGTH = 24;
const FRAME_HEADER_LENGTH = 9;
const HEADERS_FRAME = 1;

interface Http2Connection {
  /** Undefined if there are no addresses, as at a unix socket. */
  readonly address: string | undefined;
  isAuthenticated: boolean;
  bucket: TokenBucket | undefined;
}

/**
 * Limits how fast peers open streams. Each stream costs work before its caller is known, and a stream that is reset
 * immediately does not count as open (RFC 9113 §10.5). A connection with valid credentials leaves the bucket of its
 * address, so that many hosts behind one address share it only briefly.
 */
export class StreamLimits {
  private readonly connections = new WeakMap<Http2Session, Http2Connection>();
  private readonly addresses: TokenBuckets | undefined;

  constructor(
    private readonly rates: StreamRates,
    private readonly clock: Pick<Clock, 'elapsed'>,
    private readonly log?: CallerLog,
  ) {
    const { address: perSecond } = rates;
    if (perSecond > 0) this.addresses = new TokenBuckets({ perSecond, burst: BURST * perSecond }, clock);
  }

  /** Returns whether a connection of this address would be ended at its first stream. */
  isExhausted(address: string): boolean {
    return this.addresses?.wait(address) !== undefined;
  }

  /**
   * Returns whether the first bytes of a connection open no more streams than allowed. Node creates all streams of
   * already read bytes at once, before it reports the first one.
   */
  admitsFirst(bytes: Buffer): boolean {
    return this.rates.connection === 0 || countStreams(bytes) <= this.unauthenticatedRate;
  }

  /** Counts a new stream of a connection; returns false if it exceeds the limit. */
  take(session: Http2Session): boolean {
    const { address, isAuthenticated, bucket } = this.getConnection(session);
    if (bucket?.take() !== undefined) return this.refused(address, 'connection');
    if (isAuthenticated || address === undefined || this.addresses?.take(address) === undefined) return true;
    return this.refused(address, 'address');
  }

  isAuthenticated(session: Http2Session): boolean {
    return this.getConnection(session).isAuthenticated;
  }

  /** Records that the connection presented a valid certificate or token. Returns whether that is new. */
  markAuthenticated(session: Http2Session): boolean {
    const connection = this.getConnection(session);
    if (connection.isAuthenticated) return false;
    connection.isAuthenticated = true;
    const { connection: perSecond } = this.rates;
    connection.bucket =
      perSecond > 0 ? new TokenBucket({ perSecond, burst: BURST * perSecond }, this.clock) : undefined;
    return true;
  }

  private get unauthenticatedRate(): number {
    const { connection } = this.rates;
    return connection > 0 ? Math.max(MIN_UNAUTHENTICATED, connection * UNAUTHENTICATED_SHARE) : 0;
  }

  private getConnection(session: Http2Session): Http2Connection {
    const known = this.connections.get(session);
    if (known) return known;
    const perSecond = this.unauthenticatedRate;
    const bucket = perSecond > 0 ? new TokenBucket({ perSecond, burst: perSecond }, this.clock) : undefined;
    const connection = { address: session.socket.remoteAddress, isAuthenticated: false, bucket };
    this.connections.set(session, connection);
    return connection;
  }

  private refused(address = '', of: keyof StreamRates): false {
    const fields = { address, of, limit: this.rates[of] };
    this.log?.warn(`streams ${address}`, 'a connection was ended: it begins too many streams', fields);
    return false;
  }
}

/** Counts the streams begun by the first bytes of an HTTP/2 client. */
function countStreams(bytes: Buffer): number {
  let count = 0;
  for (let at = PREFACE_LENGTH; at + FRAME_HEADER_LENGTH <= bytes.length;) {
    if (bytes[at + 3] === HEADERS_FRAME) count++;
    at += FRAME_HEADER_LENGTH + bytes.readUIntBE(at, 3);
  }
  return count;
}
