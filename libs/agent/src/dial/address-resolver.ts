import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Clock, Timer } from '@causeway/runtime';

/** Interval at which a name is resolved again, and timeout of an answer, ms. */
const REFRESH = 5_000;
const MAX_WAIT = 5_000;

interface ResolvedHost {
  addresses: readonly string[];
  /** Settles with the first answer, or without one when it takes too long. */
  readonly first: Promise<void>;
}

/** Asks the DNS of this machine for host names, again and again while they are in use; keeps what it knew while none answers. */
export class AddressResolver {
  private readonly names = new Map<string, ResolvedHost>();
  private readonly timers = new Set<Timer>();

  constructor(
    private readonly clock: Clock,
    /** The addresses of a name are others now. */
    private readonly onChange: (name: string) => void,
  ) {}

  /** The addresses of a host: itself where it is one; none while they are not known. */
  addresses(host: string): readonly string[] {
    return isIP(host) === 0 ? this.of(host).addresses : [host];
  }

  /** Resolves when each of these was answered once. */
  async ready(hosts: readonly string[]): Promise<void> {
    await Promise.all(hosts.filter((host) => isIP(host) === 0).map((host) => this.of(host).first));
  }

  /** Only these names are in use. */
  keep(hosts: ReadonlySet<string>): void {
    for (const name of this.names.keys()) if (!hosts.has(name)) this.names.delete(name);
  }

  close(): void {
    this.names.clear();
    for (const timer of this.timers) timer.cancel();
  }

  private of(host: string): ResolvedHost {
    const known = this.names.get(host);
    if (known) return known;
    const asked: ResolvedHost = { addresses: [], first: Promise.race([this.ask(host), this.clock.sleep(MAX_WAIT)]) };
    this.names.set(host, asked);
    return asked;
  }

  private async ask(host: string): Promise<void> {
    const found = await listAddresses(host);
    const name = this.names.get(host);
    if (!name) return;
    if (found.length > 0 && found.join() !== name.addresses.join()) {
      name.addresses = found;
      this.onChange(host);
    }
    const timer = this.clock.after(REFRESH, () => {
      this.timers.delete(timer);
      void this.ask(host);
    });
    this.timers.add(timer);
  }
}

/** IPv4 addresses, or those of IPv6 where there are no others; none where the name is not known. */
async function listAddresses(host: string): Promise<readonly string[]> {
  try {
    const found = await lookup(host, { all: true });
    const four = found.filter(({ family }) => family === 4);
    return [...new Set((four.length > 0 ? four : found).map(({ address }) => address))].sort();
  } catch {
    return [];
  }
}
