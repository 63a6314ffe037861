import { BlockList, isIP, isIPv6 } from 'node:net';
import type { DecodedCluster } from '../builtin/decode/clusters';
import type { UpstreamEndpoint, EndpointLocality } from '../builtin/decode/endpoints';
import { isLoopback } from '../capture/plaintext-reachable';
import type { LocalAddress } from '../capture/local-address';
import type { WeightedEndpoint } from '../capture/service-maps';

/**
 * Endpoints of a virtual IP that the kernel alone can serve, and the features of its service that the kernel cannot
 * apply.
 */
export interface DirectEndpoints {
  /** Empty: connections are refused. */
  readonly endpoints: readonly WeightedEndpoint[];
  /** Why endpoints are left out; undefined if none is. */
  readonly unsupported: string | undefined;
}

/** Returns whether an IP address is in a range that the operator trusts. */
export type IsTrusted = (address: string) => boolean;

/** Scale for fractional weights: a locality's weight is divided by its number of endpoints. */
const WEIGHT_SCALE = 1_000;
/** Maximum weight of an endpoint. */
const MAX_WEIGHT = 1_000_000;

/** @throws if a range is invalid; the configuration is validated before */
export function parseTrustedRanges(ranges: readonly string[]): IsTrusted {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', length = ''] = range.split('/');
    list.addSubnet(address, Number(length), isIPv6(address) ? 'ipv6' : 'ipv4');
  }
  return (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/**
 * Selects the usable endpoints of the first priority that has any: healthy, plaintext, in a trusted network, and of the
 * virtual IP's address family. The kernel has no identity, so endpoints that need one (mTLS Strict, other zones'
 * ingresses, egresses) are left out. Linear in the endpoints.
 */
export function selectDirectEndpoints(
  at: LocalAddress,
  plan: DecodedCluster,
  localities: readonly EndpointLocality[],
  isTrusted: IsTrusted,
): DirectEndpoints {
  if (isLoopback(at.address)) return { endpoints: [], unsupported: 'a virtual IP of loopback cannot be led elsewhere' };
  const reasons = new Map<string, number>();
  const priorities = [...new Set(localities.map(({ priority }) => priority))].sort((a, b) => a - b);
  for (const priority of priorities) {
    const usable = localities
      .filter((each) => each.priority === priority)
      .map(({ weight, endpoints, zone }) => ({
        weight,
        endpoints: endpoints.filter((each) => {
          if (!each.isHealthy) return false;
          const reason = findObstacle(each, { at, plan, zone, isTrusted });
          if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
          return reason === undefined;
        }),
      }))
      .filter(({ endpoints }) => endpoints.length > 0);
    if (usable.length > 0)
      return { endpoints: weightEndpoints(usable, plan.isWeighted), unsupported: formatReasons(reasons) };
  }
  return { endpoints: [], unsupported: formatReasons(reasons) };
}

interface Facts {
  readonly at: LocalAddress;
  readonly plan: DecodedCluster;
  readonly zone: string;
  readonly isTrusted: IsTrusted;
}

function findObstacle({ address, match }: UpstreamEndpoint, { at, plan, zone, isTrusted }: Facts): string | undefined {
  const found = plan.transports.find((each) =>
    Object.entries(each.match).every(([key, value]) => match[key] === value),
  );
  if (found && found.transport !== 'plaintext')
    return `${zone === '' ? '' : `of zone ${zone} `}for callers with an identity only (mTLS)`;
  if (isIP(address) === 0) return 'with a host name';
  if (isIPv6(address) !== isIPv6(at.address)) return 'of the other IP family';
  return isTrusted(address) ? undefined : 'outside trustedNetworks';
}

function weightEndpoints(
  localities: readonly { readonly weight: number; readonly endpoints: readonly UpstreamEndpoint[] }[],
  isWeighted: boolean,
): readonly WeightedEndpoint[] {
  const found = new Map<string, WeightedEndpoint>();
  for (const { weight, endpoints } of localities) {
    const share = Math.round((WEIGHT_SCALE * weight) / endpoints.length);
    const each = isWeighted ? Math.min(MAX_WEIGHT, Math.max(1, share)) : 1;
    // If two endpoints have the same address, the first one counts.
    for (const { address, port } of endpoints) {
      const key = `${address} ${port}`;
      if (!found.has(key)) found.set(key, { address, port, weight: each });
    }
  }
  return [...found.values()];
}

function formatReasons(reasons: ReadonlyMap<string, number>): string | undefined {
  if (reasons.size === 0) return undefined;
  const parts = [...reasons]
    .slice(0, 4)
    .map(([reason, count]) => `${count} endpoint${count === 1 ? '' : 's'} ${reason}`);
  return parts.join('; ');
}
