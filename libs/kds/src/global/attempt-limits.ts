import { Unavailable } from '@causeway/resources';
import { TokenBuckets, type Clock, type Rate } from '@causeway/runtime';

/** A caller exceeds its rate; it may retry in `retryAfter` ms. Its gRPC status is RESOURCE_EXHAUSTED. */
export class TooManyAttempts extends Unavailable {
  constructor(
    what: string,
    readonly retryAfter: number,
  ) {
    super(`${what}; try again in ${retryAfter} ms`);
  }
}

/** Rates of calls by zones. */
export interface AttemptRates {
  /** For the handshakes of one zone. */
  readonly handshakes: Rate;
  /** For the streams of one zone; a session has two. */
  readonly streams: Rate;
  /** For calls from one address, accepted or not; many zones may share an address. */
  readonly address: Rate;
}

export const DEFAULT_ATTEMPTS: AttemptRates = {
  handshakes: { burst: 20, perSecond: 2 },
  streams: { burst: 40, perSecond: 4 },
  address: { burst: 3_000, perSecond: 1_000 / 3 },
};

/** Additional cost of an unauthenticated call for its address. */
const UNAUTHENTICATED_COST = 9;

/**
 * Limits how often zones and addresses may open sessions and streams. The rates of a zone are charged only after its caller
 * is authenticated, so nobody can use up those of another zone.
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

  /** Charges a call to its address; `address` is empty if the transport has none. Throws TooManyAttempts. */
  countCall(address: string): void {
    const wait = address === '' ? undefined : this.addresses.take(address);
    if (wait !== undefined) throw new TooManyAttempts(`the address ${address} calls too often`, wait);
  }

  /** Charges the address for a caller that could not be authenticated. */
  countUnauthenticated(address: string): void {
    if (address !== '') this.addresses.charge(address, UNAUTHENTICATED_COST);
  }

  /** Charges a handshake of an authenticated zone. Throws TooManyAttempts. */
  countHandshake(zone: string): void {
    const wait = this.handshakes.take(zone);
    if (wait !== undefined) throw new TooManyAttempts(`zone ${zone} makes handshakes too often`, wait);
  }

  /** Charges a stream of an authenticated zone. Throws TooManyAttempts. */
  countStream(zone: string): void {
    const wait = this.streams.take(zone);
    if (wait !== undefined) throw new TooManyAttempts(`zone ${zone} opens streams too often`, wait);
  }
}
