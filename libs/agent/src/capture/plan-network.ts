import { isIP } from 'node:net';
import { formatQualifiedName } from '../config/qualified-name';
import type { AgentConfig } from '../config/schema';
import type { Plane } from '../plane';
import { listCapturingDataplanes } from '../config/clients';
import type { Guard, NetworkPlan } from './ruleset';

/**
 * Default ranges of virtual IPs, until the zone has sent its own (docs/reference/naming.md, Allocation of virtual IPs).
 */
const VIRTUAL_RANGES = ['241.0.0.0/8', '242.0.0.0/8', '243.0.0.0/8'] as const;

/** Facts, besides the configuration, from which the plan is made. */
export interface NetworkFacts {
  /** Dataplane mode. */
  readonly plane: Plane['type'];
  /** User id of the agent. */
  readonly uid: number;
  /** Ranges of virtual IPs that the zone has sent; undefined before that. */
  readonly ranges: readonly string[] | undefined;
  /** Whether the builtin plane can listen at IPv6 addresses that only a route makes local. */
  readonly bindsAnyIpv6: boolean;
}

const IPV6_REASON =
  'the builtin plane can listen there only where the kernel lets it: sysctl net.ipv6.ip_nonlocal_bind=1';

/** Plans the rules and routes that a configuration needs on this machine. */
export function planNetwork(
  config: AgentConfig,
  { plane, uid, ranges: zoneRanges, bindsAnyIpv6 }: NetworkFacts,
): NetworkPlan {
  const { capture, redirect, dataplanes, ingress } = config;
  if (ingress || dataplanes.length === 0) return {};
  const guard = readGuard(dataplanes, uid);
  const ranges = redirect?.ranges ?? zoneRanges ?? VIRTUAL_RANGES;
  if (capture !== 'redirect') return guard;
  if (plane === 'direct') return { capture: { type: 'translate', ranges, sources: listSources(dataplanes) } };
  // Node cannot read the original destination of a redirected connection.
  if (plane === 'builtin') {
    const refused = dataplanes.flatMap(({ clients }) => clients?.users ?? []);
    return { ...planListening(ranges, bindsAnyIpv6, refused), ...guard };
  }
  const catchers = listCapturingDataplanes(config);
  const port = catchers.find(({ users }) => users === undefined)?.port;
  const byUser = catchers.flatMap(({ users, port: own }) => (users ? [{ users, port: own }] : []));
  return {
    capture: { type: 'redirect', ranges, ...(port !== undefined && { port }), ...(byUser.length > 0 && { byUser }) },
    ...guard,
  };
}

/**
 * Describes clients whose connections are refused because the dataplane cannot distinguish users, one line per
 * Dataplane.
 */
export function describeRefusedClients(
  { capture, dataplanes }: Pick<AgentConfig, 'capture' | 'dataplanes'>,
  plane: Plane['type'],
): readonly string[] {
  if (capture !== 'redirect' || plane === 'envoy') return [];
  return dataplanes.flatMap(({ name, namespace, clients }) =>
    clients
      ? [
          `clients of Dataplane ${formatQualifiedName({ name, namespace })}: only the plane envoy tells users apart; what ${clients.users.join(', ')} dial at virtual IPs is refused`,
        ]
      : [],
  );
}

/** Describes why hostnames of the mesh are not answered although `dns` is configured: one line, or none. */
export function describeUnansweredNames({ capture, dns }: Pick<AgentConfig, 'capture' | 'dns'>): readonly string[] {
  if (!dns || leadsToVirtualIps(capture)) return [];
  return [
    `dns: hostnames are answered with SERVFAIL: connections to virtual IPs reach no proxy where capture is ${capture}`,
  ];
}

/** Returns whether connections to virtual IPs reach a proxy of this machine. */
export function leadsToVirtualIps(capture: AgentConfig['capture']): boolean {
  return capture === 'bind' || capture === 'redirect';
}

/** Returns the first address of each family, as the source address of connections. */
function listSources(dataplanes: AgentConfig['dataplanes']): readonly string[] {
  const addresses = dataplanes.map(({ address }) => address);
  return [4, 6].flatMap((family) => addresses.find((address) => isIP(address) === family) ?? []);
}

function planListening(
  ranges: readonly string[],
  bindsAnyIpv6: boolean,
  refused: readonly string[],
): Pick<NetworkPlan, 'capture' | 'uncaught'> {
  const [left, caught] = [true, false].map((isLeft) =>
    ranges.filter((range) => (!bindsAnyIpv6 && range.includes(':')) === isLeft),
  );
  return {
    ...(caught &&
      caught.length > 0 && {
        capture: { type: 'listen', ranges: caught, ...(refused.length > 0 && { refused }) },
      }),
    ...(left && left.length > 0 && { uncaught: { ranges: left, reason: IPV6_REASON } }),
  };
}

function readGuard(dataplanes: AgentConfig['dataplanes'], uid: number): { readonly guard?: Guard } {
  const services = dataplanes.flatMap(({ address, services }) => services.map((one) => ({ ...one, address })));
  const ports = services.flatMap(({ guardInbound, port, servicePort }) => (guardInbound ? [servicePort ?? port] : []));
  if (ports.length === 0) return {};
  const open = services.flatMap(({ address, port }) => (isIP(address) === 0 ? [] : [{ address, port }]));
  return { guard: { ports, open, users: [uid] } };
}
