import { isIPv4, isIPv6 } from 'node:net';
import { createMachineDns, type DnsServer, type NamedService, type LearnedNameSource } from '@causeway/dns';
import type { Clock, Logger } from '@causeway/runtime';
import { outboundListenerName, readHostName, vipClusterName, type HostNameMeaning } from '@causeway/xds-translation';
import { RESOURCE_TYPES, type EncodedResource } from '@causeway/xds-server';
import { leadsToVirtualIps } from '../capture/plan-network';
import type { LocalAddress } from '../capture/local-address';
import type { AgentConfig } from '../config/schema';
import type { ResourceReader } from '../resources/resource-reader';

/** Sources of the names of a machine. */
export interface AgentNamesOptions {
  /** Resources of the Dataplane whose identity the machine's programs use. */
  readonly resources: ResourceReader;
  /** Capture of connections to virtual IPs. */
  readonly capture: AgentConfig['capture'];
  /** Listens at addresses, where the dataplane does so on demand. */
  readonly listeners?: { readonly asked: (addresses: readonly LocalAddress[]) => void } | undefined;
  readonly clock: Clock;
}

const { cluster, listener, hostName } = RESOURCE_TYPES;

/** Maximum number of subscribed hostnames; beyond it, the least recently used ones are dropped. */
const MAX_HOSTNAMES = 8_192;
/** Maximum number of ports of a service whose virtual IP is fetched together with its name. */
const MAX_PORTS = 8;
/** Timeout of an answer of the zone and the dataplane, and polling interval, ms. */
const TIMEOUT = 2_000;
const POLL_INTERVAL = 10;

/**
 * Hostnames of a machine: each is requested from the zone when a program asks for it first, and then kept in the cache
 * on disk, so that it is answered without any control plane and after a restart. A virtual IP is returned once the
 * dataplane has applied its listener for at least one port; until then the name is pending.
 */
export class AgentNames implements LearnedNameSource {
  /** Subscribed hostnames with their clusters, least recently used first. */
  private readonly asked = new Map<string, readonly string[]>();
  private readonly known = new WeakMap<EncodedResource, { meaning: HostNameMeaning; named: NamedService }>();

  constructor(private readonly options: AgentNamesOptions) {}

  get(hostname: string): NamedService | 'pending' | undefined {
    const { resources } = this.options;
    this.subscribeTo(hostname);
    const found = resources.get(hostName, hostname);
    if (!found || found === 'pending') return found;
    const { meaning, named } = this.read(found);
    this.fetchResources(hostname, meaning);
    return this.isReached(meaning) ? named : 'pending';
  }

  async settled(hostname: string): Promise<void> {
    const { clock } = this.options;
    const end = clock.elapsed() + TIMEOUT;
    while (this.isAwaited(hostname) && clock.elapsed() < end)
      await new Promise<void>((resolve) => clock.after(POLL_INTERVAL, resolve));
  }

  /** If nothing captures connections to virtual IPs, waits only for the zone. */
  private isAwaited(hostname: string): boolean {
    const { resources, capture } = this.options;
    if (this.get(hostname) !== 'pending') return false;
    return leadsToVirtualIps(capture) || resources.get(hostName, hostname) === 'pending';
  }

  subscribe(of: (hostnames: readonly string[]) => void): () => void {
    return this.options.resources.subscribe(({ type, names }) => {
      if (type === hostName) of(names);
    });
  }

  /** Number of subscribed hostnames. */
  get size(): number {
    return this.asked.size;
  }

  private subscribeTo(hostname: string): void {
    const { resources } = this.options;
    const before = this.asked.get(hostname);
    this.asked.delete(hostname);
    this.asked.set(hostname, before ?? []);
    if (!before) resources.want(hostName, [hostname]);
    const [oldest] = this.asked;
    if (!oldest || this.asked.size <= MAX_HOSTNAMES) return;
    this.asked.delete(oldest[0]);
    resources.release(hostName, [oldest[0]]);
    if (oldest[1].length > 0) resources.release(cluster, oldest[1]);
  }

  /** With `redirect`, subscribes together with the name, before the first connection, to the clusters or listeners of its addresses. */
  private fetchResources(hostname: string, meaning: HostNameMeaning): void {
    const { capture, listeners } = this.options;
    const addresses = listAddresses(meaning).slice(0, MAX_PORTS);
    if (listeners) return listeners.asked(addresses);
    if (capture !== 'redirect') return;
    const wanted: readonly string[] = addresses.map(vipClusterName);
    const before = this.asked.get(hostname) ?? [];
    const [added, dropped] = [
      wanted.filter((each) => !before.includes(each)),
      before.filter((each) => !wanted.includes(each)),
    ];
    if (added.length > 0) this.options.resources.want(cluster, added);
    if (dropped.length > 0) this.options.resources.release(cluster, dropped);
    if (added.length + dropped.length > 0) this.asked.set(hostname, wanted);
  }

  /** Whether a dataplane has applied one of the name's addresses, or there is none to wait for. */
  private isReached(meaning: HostNameMeaning): boolean {
    const { resources } = this.options;
    const addresses = listAddresses(meaning);
    return (
      addresses.length === 0 ||
      addresses.some(
        (at) =>
          resources.appliedVersion(cluster, vipClusterName(at)) !== undefined ||
          resources.appliedVersion(listener, outboundListenerName(at)) !== undefined,
      )
    );
  }

  private read(resource: EncodedResource): { readonly meaning: HostNameMeaning; readonly named: NamedService } {
    const before = this.known.get(resource);
    if (before) return before;
    const meaning = readHostName(resource.bytes);
    const [ip = ''] = meaning.addresses;
    const family = isIPv4(ip) ? 4 : isIPv6(ip) ? 6 : 0;
    const ports = meaning.ports.map(({ number, name }) => ({ number, name: name.toLowerCase() }));
    const service = { id: meaning.service, ip: family === 0 ? '' : ip, family, ports } as const;
    const made = { meaning, named: { service, hostnames: [{ hostname: meaning.hostname, generators: [] }] } };
    this.known.set(resource, made);
    return made;
  }
}

/** Lists virtual IPs with ports, as in resource names. */
function listAddresses({ addresses, ports }: HostNameMeaning): readonly { address: string; port: number }[] {
  return addresses.flatMap((address) => ports.map(({ number }) => ({ address, port: number })));
}

/** Options of the machine's DNS server. */
export interface AgentDnsOptions extends AgentNamesOptions {
  readonly zone: string;
  readonly suffixes: readonly string[];
  readonly upstream: readonly string[];
  readonly logger: Logger;
}

/**
 * Creates the DNS server of a machine: answers hostnames under `suffixes` from the cache, forwards all others to the
 * upstreams, or refuses them if there are none. The caller binds it.
 */
export function createAgentDns({ zone, suffixes, upstream, logger, ...names }: AgentDnsOptions): DnsServer {
  const forward = { enabled: upstream.length > 0, upstreams: upstream };
  return createMachineDns({
    zone,
    logger,
    clock: names.clock,
    source: new AgentNames(names),
    config: { suffixes, forward },
  });
}
