import { BlockList, isIP, isIPv6 } from 'node:net';
import type { DecodedCluster } from '../builtin/decode/clusters';
import type { UpstreamEndpoint, EndpointLocality } from '../builtin/decode/endpoints';
import type { LocalAddress } from '../capture/ruleset';
import type { WeightedEndpoint } from '../capture/service-maps';

/**
 * Endpoints of a virtual IP that the kernel alone can serve, and the features of its service that the kernel cannot
 * apply.
 */
export interface DirectEndpoints {
  /** None: connections are refused. */
  readonly endpoints: readonly WeightedEndpoint[];
  /** For people; undefined where all is done that the service asks for. */
  readonly lost: string | undefined;
}

/** Whether an IP address is in one of the ranges in which the operator trusts everybody. */
export type IsTrusted = (address: string) => boolean;

/** The scale of weights that are not whole: of the instances of one zone each has the share of its zone by their number. */
const WEIGHT_SCALE = 1_000;
/** Maximum weight of an endpoint: larger ones count as this. */
const LARGEST_WEIGHT = 1_000_000;

/** @throws where a range is none: the configuration was checked. */
export function parseTrustedRanges(ranges: readonly string[]): IsTrusted {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', length = ''] = range.split('/');
    list.addSubnet(address, Number(length), isIPv6(address) ? 'ipv6' : 'ipv4');
  }
  return (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/**
 * The endpoints of the first priority in which one can be used: healthy, an IP address of the family of the virtual one and of a trusted
 * network, that takes plain text. The kernel has no identity, so what takes callers with one only (mTLS Strict, the ingress of another
 * zone, an egress) is left out. Linear in the endpoints.
 */
export function directEndpoints(
  at: LocalAddress,
  plan: DecodedCluster,
  localities: readonly EndpointLocality[],
  isTrusted: IsTrusted,
): DirectEndpoints {
  if (isLoopback(at.address)) return { endpoints: [], lost: 'a virtual IP of loopback cannot be led elsewhere' };
  const reasons = new Map<string, number>();
  const priorities = [...new Set(localities.map(({ priority }) => priority))].sort((a, b) => a - b);
  for (const priority of priorities) {
    const usable = localities
      .filter((each) => each.priority === priority)
      .map(({ weight, endpoints, zone }) => ({
        weight,
        endpoints: endpoints.filter((each) => {
          if (!each.isHealthy) return false;
          const reason = reasonAgainst(each, { at, plan, zone, isTrusted });
          if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
          return reason === undefined;
        }),
      }))
      .filter(({ endpoints }) => endpoints.length > 0);
    if (usable.length > 0) return { endpoints: weighted(usable, plan.isWeighted), lost: lostText(reasons) };
  }
  return { endpoints: [], lost: lostText(reasons) };
}

interface Facts {
  readonly at: LocalAddress;
  readonly plan: DecodedCluster;
  readonly zone: string;
  readonly isTrusted: IsTrusted;
}

function reasonAgainst({ address, match }: UpstreamEndpoint, { at, plan, zone, isTrusted }: Facts): string | undefined {
  const found = plan.transports.find((each) =>
    Object.entries(each.match).every(([key, value]) => match[key] === value),
  );
  if (found && found.transport !== 'plaintext')
    return `${zone === '' ? '' : `of zone ${zone} `}for callers with an identity only (mTLS)`;
  if (isIP(address) === 0) return 'with a host name';
  if (isIPv6(address) !== isIPv6(at.address)) return 'of the other IP family';
  return isTrusted(address) ? undefined : 'outside trustedNetworks';
}

function weighted(
  localities: readonly { readonly weight: number; readonly endpoints: readonly UpstreamEndpoint[] }[],
  isWeighted: boolean,
): readonly WeightedEndpoint[] {
  const found = new Map<string, WeightedEndpoint>();
  for (const { weight, endpoints } of localities) {
    const share = Math.round((WEIGHT_SCALE * weight) / endpoints.length);
    const each = isWeighted ? Math.min(LARGEST_WEIGHT, Math.max(1, share)) : 1;
    // Of two endpoints of one place the first counts.
    for (const { address, port } of endpoints) {
      const key = `${address} ${port}`;
      if (!found.has(key)) found.set(key, { address, port, weight: each });
    }
  }
  return [...found.values()];
}

function lostText(reasons: ReadonlyMap<string, number>): string | undefined {
  if (reasons.size === 0) return undefined;
  const parts = [...reasons]
    .slice(0, 4)
    .map(([reason, count]) => `${count} endpoint${count === 1 ? '' : 's'} ${reason}`);
  return parts.join('; ');
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1';
}
