import type { Http2Session } from 'node:http2';
import { TokenBucket, TokenBuckets, type CallerLog, type Clock } from '@causeway/runtime';

/** HTTP/2 streams, so calls of gRPC, that may begin in a second in the long run, and twice as many at once; 0 is no limit. */
export interface StreamRates {
  /** On one connection. Until it has shown a valid certificate or token, a tenth (20 at least), and no more at once. */
  readonly connection: number;
  /** On all connections of one address that have shown none. */
  readonly address: number;
}

export const DEFAULT_STREAM_RATES: StreamRates = { connection: 2_000, address: 500 };

const BURST = 2;
/** Part of its rate that a connection has before it has sent valid credentials, on average and at once. */
const UNAUTHENTICATED = 0.1;
const MIN_UNAUTHENTICATED = 20;

const PREFACE_LENGTH = 24;
const FRAME_HEADER_LENGTH = 9;
const HEADERS_FRAME = 1;

interface Http2Connection {
  /** Undefined where there are no addresses, as at a unix socket. */
  readonly address: string | undefined;
  isAuthenticated: boolean;
  bucket: TokenBucket | undefined;
}

/**
 * Bounds how fast peers begin streams. Each costs before anything is known of its caller, and a stream that is reset at once counts
 * against no number of open streams (RFC 9113 §10.5). Who shows valid credentials on one connection leaves the bucket of the address,
 * so that many machines behind one address do not share it for long.
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

  /** Whether a connection of this address would be ended at its first stream. */
  isExhausted(address: string): boolean {
    return this.addresses?.wait(address) !== undefined;
  }

  /**
   * Whether what a connection has sent first begins no more streams than it may. Node makes all streams of bytes that were read before it
   * had the connection at once, and shows them afterwards.
   */
  admitsFirst(bytes: Buffer): boolean {
    return this.rates.connection === 0 || countStreams(bytes) <= this.unauthenticatedRate;
  }

  /** Counts a stream that a connection begins; false where it is one too many. */
  take(session: Http2Session): boolean {
    const { address, isAuthenticated, bucket } = this.getConnection(session);
    if (bucket?.take() !== undefined) return this.refused(address, 'connection');
    if (isAuthenticated || address === undefined || this.addresses?.take(address) === undefined) return true;
    return this.refused(address, 'address');
  }

  isAuthenticated(session: Http2Session): boolean {
    return this.getConnection(session).isAuthenticated;
  }

  /** The connection has shown a valid certificate or token. Returns whether that is new. */
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
    return connection > 0 ? Math.max(MIN_UNAUTHENTICATED, connection * UNAUTHENTICATED) : 0;
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
