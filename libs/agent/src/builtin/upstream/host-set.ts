import { isDeepStrictEqual } from 'node:util';
import type { DecodedCluster } from '../decode/clusters';
import type { UpstreamEndpoint, EndpointLocality } from '../decode/endpoints';
import { Host, type HostAssignment } from './host';
import { pickIndex, computeHealth, computePriorityLoad } from './priority-load';

/** Returns the addresses of a host name, as last resolved. */
export type Addresses = (name: string) => readonly string[];

interface HostLocality {
  readonly weight: number;
  readonly hosts: readonly Host[];
}

/** Candidate hosts of a priority by locality, and the share of each locality. */
interface Group {
  readonly candidates: readonly (readonly Host[])[];
  readonly shares: readonly number[];
}

/**
 * Hosts of a cluster. Selects the host of a new connection: by priority, by locality if weighted, then the less loaded
 * of two random hosts. A host that stays keeps its connections and failures.
 */
export class HostSet {
  private byKey = new Map<string, Host>();
  private priorities: readonly (readonly HostLocality[])[] = [];
  /** Cached candidates; undefined after a change. */
  private groups: { readonly all: readonly Group[]; readonly shares: readonly number[] } | undefined;

  constructor(
    private readonly now: () => number,
    private readonly random: () => number,
  ) {}

  get all(): Iterable<Host> {
    return this.byKey.values();
  }

  get size(): number {
    return this.byKey.size;
  }

  get healthy(): number {
    return [...this.byKey.values()].filter((host) => this.canServe(host)).length;
  }

  /** Replaces the hosts. */
  update(plan: DecodedCluster, localities: readonly EndpointLocality[], addresses: Addresses): void {
    const before = this.byKey;
    this.byKey = new Map();
    const priorities: HostLocality[][] = [];
    for (const { priority, zone, weight, endpoints } of localities) {
      const hosts = endpoints.flatMap((endpoint) =>
        addresses(endpoint.address).flatMap((address) =>
          this.getOrCreateHost(before, plan, { ...endpoint, address, zone }),
        ),
      );
      (priorities[priority] ??= []).push({ weight, hosts });
    }
    this.priorities = Array.from(priorities, (each) => each ?? []);
    this.groups = undefined;
    this.plan = plan;
  }

  private plan: DecodedCluster | undefined;

  private getOrCreateHost(
    before: ReadonlyMap<string, Host>,
    plan: DecodedCluster,
    endpoint: UpstreamEndpoint & { readonly zone: string },
  ) {
    const { address, port, isHealthy, match, zone } = endpoint;
    const key = JSON.stringify([address, port, zone, match]);
    // If two endpoints have the same address, the first one counts.
    if (this.byKey.has(key)) return [];
    const place: HostAssignment = { address, port, zone, transport: selectTransport(plan, match) };
    const known = before.get(key);
    const host = known && isDeepStrictEqual(known.assignment, place) ? known : new Host(place);
    host.isHealthy = isHealthy;
    this.byKey.set(key, host);
    return [host];
  }

  /** Drops cached candidates after a host was ejected or returned. */
  changed(): void {
    this.groups = undefined;
  }

  /** Selects a host for a new connection, preferably one not tried before; undefined if none can serve. */
  pick(tried: ReadonlySet<Host>): Host | undefined {
    const { all, shares } = (this.groups ??= this.groupByPriority());
    const first = pickIndex(shares, this.random());
    if (first < 0) return undefined;
    const chosen = this.pickHost(all[first], tried);
    if (chosen && !tried.has(chosen)) return chosen;
    for (const [i, group] of all.entries()) {
      if ((shares[i] ?? 0) === 0 && i !== first) continue;
      const other = group.candidates.flat().find((host) => !tried.has(host));
      if (other) return other;
    }
    return chosen;
  }

  private pickHost(group: Group | undefined, tried: ReadonlySet<Host>): Host | undefined {
    if (!group) return undefined;
    const hosts = group.candidates[pickIndex(group.shares, this.random())] ?? [];
    const [a, b] = [hosts[this.index(hosts)], hosts[this.index(hosts)]];
    if (!a || !b) return a ?? b;
    if (tried.has(a) !== tried.has(b)) return tried.has(a) ? b : a;
    return b.load < a.load ? b : a;
  }

  private index(hosts: readonly Host[]): number {
    return Math.floor(this.random() * hosts.length);
  }

  private groupByPriority(): { readonly all: readonly Group[]; readonly shares: readonly number[] } {
    const counts = this.priorities.map((localities) =>
      countHosts(
        localities.flatMap(({ hosts }) => hosts),
        this.canServe,
      ),
    );
    const load = computePriorityLoad(counts, this.plan?.panicPercent ?? 0);
    const all = this.priorities.map((localities, i) => this.groupHosts(localities, load[i]?.panics ?? false));
    return { all, shares: load.map(({ share }) => share) };
  }

  private groupHosts(localities: readonly HostLocality[], panics: boolean): Group {
    const serving = localities.map(({ hosts }) => hosts.filter((host) => panics || this.canServe(host)));
    if (this.plan?.isWeighted !== true) return { candidates: [serving.flat()], shares: [1] };
    const shares = localities.map(({ weight, hosts }, i) => {
      const able = (serving[i] ?? []).length > 0;
      return able ? weight * (panics ? 1 : computeHealth(countHosts(hosts, this.canServe))) : 0;
    });
    return { candidates: serving, shares };
  }

  private readonly canServe = (host: Host): boolean => host.isHealthy && !host.isEjected(this.now());
}

function countHosts(hosts: readonly Host[], canServe: (host: Host) => boolean) {
  return { total: hosts.length, healthy: hosts.filter(canServe).length };
}

/** Returns the first transport whose match fits the endpoint's metadata. */
function selectTransport(
  { transports }: DecodedCluster,
  metadata: Readonly<Record<string, string>>,
): HostAssignment['transport'] {
  const found = transports.find(({ match }) => Object.entries(match).every(([key, value]) => metadata[key] === value));
  return found?.transport ?? 'plaintext';
}
