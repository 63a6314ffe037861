import { errorText, type Clock, type Timer } from '@causeway/runtime';

/** The answer of a resolver about a name. */
export interface NameAnswer {
  /** Empty where the name has no address. */
  readonly addresses: readonly string[];
  /** The time to live of the answer, ms. */
  readonly ttl: number;
}

/** Looks up the addresses of a name once. Rejects when no server answers: that is no statement about the name. */
export interface NameLookup {
  lookup(name: string): Promise<NameAnswer>;
}

/** The resolution state of a name. */
export interface ResolvedName {
  /** The addresses of the last answer, sorted, without duplicates. */
  readonly addresses: readonly string[];
  /** The reason why there are no addresses, or no current ones. */
  readonly failure?: string;
  /** Set until the first answer, or until the first lookup timed out. */
  readonly isPending?: true;
}

export interface ResolverLimits {
  /** Maximum number of names that are resolved; further ones have no addresses. */
  readonly names: number;
  /** Maximum number of concurrent lookups, and of lookups per second. */
  readonly atOnce: number;
  readonly perSecond: number;
  /** Maximum number of addresses of one name; further ones are ignored. */
  readonly addresses: number;
  /** Bounds of the time that an answer is kept, whatever its TTL, ms. */
  readonly floor: number;
  readonly ceiling: number;
  /** The timeout of a lookup, ms. */
  readonly patience: number;
  /** The first pause after a failed lookup, and the maximum: the pause doubles, ms. */
  readonly pause: number;
  readonly longestPause: number;
}

const DEFAULT_RESOLVER_LIMITS: ResolverLimits = {
  names: 10_000,
  atOnce: 32,
  perSecond: 100,
  addresses: 256,
  floor: 5_000,
  ceiling: 300_000,
  patience: 5_000,
  pause: 1_000,
  longestPause: 30_000,
};

interface NameEntry {
  known: ResolvedName | undefined;
  failures: number;
  timer: Timer | undefined;
  /** Settles with the first answer, or after `patience` without one. */
  readonly first: Promise<void>;
  readonly settle: () => void;
}

const UNKNOWN: ResolvedName = { addresses: [], failure: 'is not resolved yet', isPending: true };

/**
 * Resolves names repeatedly while they are kept, as often as the TTLs require and within limits. While no server answers, a name keeps the addresses
 * of its last answer; an answer without addresses replaces them.
 */
export class NameResolver {
  private readonly names = new Map<string, NameEntry>();
  private readonly waiting: string[] = [];
  private asking = 0;
  private isClosed = false;
  private readonly listeners = new Set<(name: string) => void>();
  private readonly limits: ResolverLimits;

  constructor(
    private readonly source: NameLookup,
    private readonly clock: Clock,
    limits: Partial<ResolverLimits> = {},
  ) {
    this.limits = { ...DEFAULT_RESOLVER_LIMITS, ...limits };
  }

  /** The number of names that are resolved. */
  get size(): number {
    return this.names.size;
  }

  of(name: string): ResolvedName {
    const found = this.names.get(name);
    if (found) return found.known ?? UNKNOWN;
    const isFull = this.names.size >= this.limits.names;
    return isFull ? { addresses: [], failure: `is beyond the ${this.limits.names} names that are resolved` } : UNKNOWN;
  }

  /** Replaces the set of names that are resolved, up to the limit; names that stay keep their state. */
  keep(wanted: Iterable<string>): void {
    if (this.isClosed) return;
    const names = new Set(wanted);
    for (const [name, { timer, settle }] of this.names) {
      if (names.has(name)) continue;
      timer?.cancel();
      settle();
      this.names.delete(name);
    }
    for (const name of names) {
      if (this.names.size >= this.limits.names) break;
      if (!this.names.has(name)) this.add(name);
    }
  }

  /** Resolves when each of these names that is kept has had its first answer, or after `patience`. */
  async ready(names: Iterable<string>): Promise<void> {
    await Promise.all([...names].map((name) => this.names.get(name)?.first ?? Promise.resolve()));
  }

  /** Calls `listener` with each name whose state changed, until the returned function is called. */
  subscribe(listener: (name: string) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  close(): void {
    this.keep([]);
    this.isClosed = true;
    this.listeners.clear();
  }

  private add(name: string): void {
    let settle = (): void => undefined;
    const first = new Promise<void>((resolve) => (settle = resolve));
    this.names.set(name, { known: undefined, failures: 0, timer: undefined, first, settle: () => settle() });
    this.waiting.push(name);
    this.askNext();
  }

  private askNext(): void {
    while (this.asking < this.limits.atOnce) {
      const next = this.waiting.shift();
      if (next === undefined) return;
      const name = this.names.get(next);
      if (name) void this.ask(next, name);
    }
  }

  private async ask(text: string, name: NameEntry): Promise<void> {
    this.asking += 1;
    const pause = await this.resolve(text, name);
    this.asking -= 1;
    name.settle();
    if (this.names.get(text) === name)
      name.timer = this.clock.after(pause, () => {
        this.waiting.push(text);
        this.askNext();
      });
    this.askNext();
  }

  /** Looks a name up once; resolves with the pause until the next lookup. */
  private async resolve(text: string, name: NameEntry): Promise<number> {
    const { floor, ceiling, pause, longestPause, addresses: most } = this.limits;
    try {
      const { addresses, ttl } = await this.answered(text);
      name.failures = 0;
      const found = [...new Set(addresses)].sort().slice(0, most);
      this.know(text, name, found.length > 0 ? { addresses: found } : { addresses: [], failure: 'has no address' });
      return Math.max(floor, this.spread(), Math.min(ceiling, ttl));
    } catch (error) {
      name.failures += 1;
      const failure = `is not answered: ${errorText(error)}`;
      this.know(text, name, { addresses: name.known?.addresses ?? [], failure });
      return Math.max(this.spread(), Math.min(longestPause, pause * 2 ** Math.min(20, name.failures - 1)));
    }
  }

  private async answered(text: string): Promise<NameAnswer> {
    const { patience } = this.limits;
    const over = new AbortController();
    const late = this.clock.sleep(patience, over.signal).then(() => {
      throw new Error(`no answer within ${patience} ms`);
    });
    late.catch(() => undefined);
    try {
      return await Promise.race([this.source.lookup(text), late]);
    } finally {
      over.abort();
    }
  }

  /** The time in which all names can be looked up once at the maximum rate. */
  private spread(): number {
    return (this.names.size / this.limits.perSecond) * 1_000;
  }

  private know(text: string, name: NameEntry, known: ResolvedName): void {
    const before = name.known;
    name.known = known;
    if (this.names.get(text) !== name) return;
    if (before && before.failure === known.failure && before.addresses.join() === known.addresses.join()) return;
    for (const listener of this.listeners) listener(text);
  }
}
