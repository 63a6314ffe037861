import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Clock, Timer } from '@causeway/runtime';

/** Interval at which names are resolved again, and timeout of the first resolution, ms. */
const REFRESH_INTERVAL = 5_000;
const MAX_WAIT = 5_000;

interface ResolvedHost {
  addresses: readonly string[];
  /** Settles with the first answer, or after the timeout. */
  readonly first: Promise<void>;
}

/** Resolves host names periodically while they are in use; keeps the last addresses while DNS fails. */
export class AddressResolver {
  private readonly names = new Map<string, ResolvedHost>();
  private readonly timers = new Set<Timer>();

  constructor(
    private readonly clock: Clock,
    /** Called when the addresses of a name have changed. */
    private readonly onChange: (name: string) => void,
  ) {}

  /** Returns the addresses of a host, or itself if it is an address; empty while unknown. */
  addresses(host: string): readonly string[] {
    return isIP(host) === 0 ? this.getOrResolve(host).addresses : [host];
  }

  /** Resolves when each host was resolved once, or timed out. */
  async ready(hosts: readonly string[]): Promise<void> {
    await Promise.all(hosts.filter((host) => isIP(host) === 0).map((host) => this.getOrResolve(host).first));
  }

  /** Stops resolving all other names. */
  keep(hosts: ReadonlySet<string>): void {
    for (const name of this.names.keys()) if (!hosts.has(name)) this.names.delete(name);
  }

  close(): void {
    this.names.clear();
    for (const timer of this.timers) timer.cancel();
  }

  private getOrResolve(host: string): ResolvedHost {
    const known = this.names.get(host);
    if (known) return known;
    const asked: ResolvedHost = {
      addresses: [],
      first: Promise.race([this.resolve(host), this.clock.sleep(MAX_WAIT)]),
    };
    this.names.set(host, asked);
    return asked;
  }

  private async resolve(host: string): Promise<void> {
    const found = await listAddresses(host);
    const name = this.names.get(host);
    if (!name) return;
    if (found.length > 0 && found.join() !== name.addresses.join()) {
      name.addresses = found;
      this.onChange(host);
    }
    const timer = this.clock.after(REFRESH_INTERVAL, () => {
      this.timers.delete(timer);
      void this.resolve(host);
    });
    this.timers.add(timer);
  }
}

/** Returns IPv4 addresses, or IPv6 ones if there are no others; empty if the name does not resolve. */
async function listAddresses(host: string): Promise<readonly string[]> {
  try {
    const found = await lookup(host, { all: true });
    const four = found.filter(({ family }) => family === 4);
    return [...new Set((four.length > 0 ? four : found).map(({ address }) => address))].sort();
  } catch {
    return [];
  }
}
