import { Unavailable } from '@causeway/resources';
import { TokenBuckets, type Clock, type Rate } from '@causeway/runtime';

/** Asked for too often; `retryAfter` ms from now it may be asked for again. gRPC says RESOURCE_EXHAUSTED. */
export class TooManyAttempts extends Unavailable {
  constructor(
    what: string,
    readonly retryAfter: number,
  ) {
    super(`${what}; try again in ${retryAfter} ms`);
  }
}

/** How often zones may knock. */
export interface AttemptRates {
  /** Handshakes of one zone. */
  readonly handshakes: Rate;
  /** Streams of one zone: a session has two. */
  readonly streams: Rate;
  /** Calls from one address, let in or not; behind one there may be many zones. */
  readonly address: Rate;
}

export const DEFAULT_ATTEMPTS: AttemptRates = {
  handshakes: { burst: 20, perSecond: 2 },
  streams: { burst: 40, perSecond: 4 },
  address: { burst: 3_000, perSecond: 1_000 / 3 },
};

/** What a call costs its address beyond the usual when it proves nothing. */
const REFUSED = 9;

/**
 * Limits how often zones and addresses may open sessions and streams. What counts for a zone is asked only once its
 * caller is known: nobody uses up another's.
 */
export class AttemptLimits {
  private readonly handshakes: TokenBuckets;
  private readonly streams: TokenBuckets;
  private readonly addresses: TokenBuckets;

  constructor(clock: Pick<Clock, 'elapsed'>, rates: AttemptRates = DEFAULT_ATTEMPTS) {
    this.handshakes = new TokenBuckets(rates.handshakes, clock);
    this.streams = new TokenBuckets(rates.streams, clock);
    this.addresses = new TokenBuckets(rates.address, clock);
  }

  /** A call has come; `address` is empty where the transport has none. Throws TooManyAttempts. */
  countCall(address: string): void {
    const wait = address === '' ? undefined : this.addresses.take(address);
    if (wait !== undefined) throw new TooManyAttempts(`the address ${address} calls too often`, wait);
  }

  /** The caller could not prove who it is. */
  countUnauthenticated(address: string): void {
    if (address !== '') this.addresses.charge(address, REFUSED);
  }

  /** A zone that is known shakes hands. Throws TooManyAttempts. */
  countHandshake(zone: string): void {
    const wait = this.handshakes.take(zone);
    if (wait !== undefined) throw new TooManyAttempts(`zone ${zone} shakes hands too often`, wait);
  }

  /** A zone that is known opens a stream. Throws TooManyAttempts. */
  countStream(zone: string): void {
    const wait = this.streams.take(zone);
    if (wait !== undefined) throw new TooManyAttempts(`zone ${zone} opens streams too often`, wait);
  }
}

/** The address of a peer as gRPC names it, `address:port`, without the port. */
export function addressOf(peer: string): string {
  return peer.replace(/:\d+$/, '');
}
