/** Facts of a zone as a replica shows them: addresses by service (`web@east`) and by hostname. */
export interface ShownNames {
  readonly services: ReadonlyMap<string, string>;
  readonly hostnames: ReadonlyMap<string, string>;
}

interface Fact {
  readonly address: string;
  /** When a replica first showed it, by the clock of the caller. */
  readonly at: number;
}

/** A replica: one object for each process. */
export interface ShowingReplica {
  /** Before its process was started, by the same clock. */
  readonly since: number;
}

/**
 * Records the names that the replicas of a zone have shown and must go on to show: a service or hostname that a replica has shown once it shows
 * always, and so does every replica that was started later. No replica ever shows another address for it, or one address for two services.
 */
export class NamesSeen {
  private readonly facts = new Map<string, Fact>();
  private readonly byReplica = new WeakMap<ShowingReplica, Set<string>>();

  /** Returns how many services and hostnames any replica has shown. */
  get size(): number {
    return this.facts.size;
  }

  /** Takes all that a replica shows; a line for each promise that it breaks. */
  take(replica: ShowingReplica, { services, hostnames }: ShownNames, now: number): readonly string[] {
    const shown = new Map([...services, ...hostnames]);
    const own = this.byReplica.get(replica) ?? new Set();
    this.byReplica.set(replica, own);
    const broken = [...this.due(replica)]
      .filter(([name]) => !shown.has(name))
      .map(([name, address]) => `${name} had ${address} and is gone`);
    for (const [name, address] of shown) {
      const before = this.facts.get(name);
      if (!before) this.facts.set(name, { address, at: now });
      else if (before.address !== address) broken.push(`${name} had ${before.address} and has ${address}`);
      own.add(name);
    }
    return [...broken, ...sharedAddresses(services)];
  }

  /** Yields the names and addresses that this replica must show. */
  *due(replica: ShowingReplica): Iterable<readonly [name: string, address: string]> {
    const own = this.byReplica.get(replica);
    for (const [name, { address, at }] of this.facts)
      if (at < replica.since || own?.has(name) === true) yield [name, address];
  }
}

function sharedAddresses(services: ReadonlyMap<string, string>): readonly string[] {
  const holders = new Map<string, string>();
  const broken: string[] = [];
  for (const [service, address] of services) {
    const holder = holders.get(address);
    if (holder !== undefined) broken.push(`${service} and ${holder} both have ${address}`);
    holders.set(address, service);
  }
  return broken;
}
