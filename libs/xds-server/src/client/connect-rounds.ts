import { Backoff, type BackoffOptions } from '@causeway/runtime';

/** How often, and for how long, a client tries to connect. Both grow from round to round, with jitter. */
export interface ConnectLimits {
  /** How long a server may take to answer, ms. */
  readonly deadline: DelayRange;
  /** Between two rounds, ms. */
  readonly pause: DelayRange;
}

type DelayRange = Pick<BackoffOptions, 'base' | 'cap'>;

/**
 * Servers answer late when many clients come at once after all of them were away: whoever gives up then makes them begin its handshake
 * again. So the first round is patient enough for that, and the next ones are more patient.
 */
export const CONNECT_DEADLINE: DelayRange = { base: 20_000, cap: 40_000 };

/** The tries of one client to connect: one address after the other, and after each round over all of them a pause. */
export class ConnectRounds {
  private readonly pauses: Backoff;
  private readonly deadlines: Backoff;
  private tries = 0;
  private limit: number;

  /** `random` as in `BackoffOptions`. */
  constructor({ deadline, pause }: ConnectLimits, random: () => number = Math.random) {
    this.pauses = new Backoff({ ...pause, random });
    this.deadlines = new Backoff({ ...deadline, random });
    this.limit = this.deadlines.next();
  }

  /** How long a server may take to answer in this round, ms. */
  get deadline(): number {
    return this.limit;
  }

  /** The address to try now; undefined where there is none. */
  next(addresses: readonly string[]): string | undefined {
    return addresses[this.tries++ % Math.max(1, addresses.length)];
  }

  /** The one that `next` will name. */
  upcoming(addresses: readonly string[]): string | undefined {
    return addresses[this.tries % Math.max(1, addresses.length)];
  }

  /** A try has failed. The pause before the next one, ms: 0 within a round. */
  failed(addresses: readonly string[]): number {
    if (this.tries % Math.max(1, addresses.length) !== 0) return 0;
    this.limit = this.deadlines.next();
    return this.pauses.next();
  }

  /** A server has answered: the next round is a first one. */
  answered(): void {
    this.pauses.reset();
    this.deadlines.reset();
    this.limit = this.deadlines.next();
  }

  /** The addresses are others: they are tried from the first on. */
  restart(): void {
    this.tries = 0;
  }
}
