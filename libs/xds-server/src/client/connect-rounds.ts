import { Backoff, type BackoffOptions } from '@causeway/runtime';

/** Delays of a client's connection attempts. Both grow from round to round, with jitter. */
export interface ConnectLimits {
  /** Timeout of a server's answer, ms. */
  readonly deadline: DelayRange;
  /** Pause between two rounds, ms. */
  readonly pause: DelayRange;
}

type DelayRange = Pick<BackoffOptions, 'base' | 'cap'>;

/**
 * Servers answer late when many clients reconnect after an outage of all servers: a client that gives up makes them start its handshake again. So the
 * first deadline allows for that, and later ones are longer.
 */
export const CONNECT_DEADLINE: DelayRange = { base: 20_000, cap: 40_000 };

/** The connection attempts of a client: rounds over all addresses, with a pause after each round. */
export class ConnectRounds {
  private readonly pauses: Backoff;
  private readonly deadlines: Backoff;
  private tries = 0;
  private limit: number;

  /** `random`: see `BackoffOptions`. */
  constructor({ deadline, pause }: ConnectLimits, random: () => number = Math.random) {
    this.pauses = new Backoff({ ...pause, random });
    this.deadlines = new Backoff({ ...deadline, random });
    this.limit = this.deadlines.next();
  }

  /** Timeout of a server's answer in this round, ms. */
  get deadline(): number {
    return this.limit;
  }

  /** Returns the address to try now; undefined if there is none. */
  next(addresses: readonly string[]): string | undefined {
    return addresses[this.tries++ % Math.max(1, addresses.length)];
  }

  /** Returns the address that `next` will return. */
  upcoming(addresses: readonly string[]): string | undefined {
    return addresses[this.tries % Math.max(1, addresses.length)];
  }

  /** Records a failed attempt. Returns the pause before the next one, ms: 0 within a round. */
  failed(addresses: readonly string[]): number {
    if (this.tries % Math.max(1, addresses.length) !== 0) return 0;
    this.limit = this.deadlines.next();
    return this.pauses.next();
  }

  /** Records that a server has answered: the next round counts as the first. */
  answered(): void {
    this.pauses.reset();
    this.deadlines.reset();
    this.limit = this.deadlines.next();
  }

  /** Records that the addresses changed: they are tried from the first on. */
  restart(): void {
    this.tries = 0;
  }
}
