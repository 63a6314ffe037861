import { FractionalPercent_DenominatorType, HttpLocalRateLimit, NetworkLocalRateLimit } from '@causeway/proto-gen';
import type { RequestRate, RateLimitSpec } from '@causeway/policies';
import type { Identity } from '@causeway/resources';
import type { InboundFilters } from './inbound-filters';
import { toProtoDuration, packFilter } from '@causeway/xds-server';
import { parseMilliseconds } from './cluster-rules';

/** The rate limit that a service sets at an inbound. */
export interface InboundLimit {
  readonly service: Identity;
  readonly spec: RateLimitSpec;
}

/** The response header of a rate-limited request: the service whose policy limits it, as `namespace/name`. */
export const LIMITED_BY = 'x-causeway-limited-by';

const TOO_MANY_REQUESTS = 429;
const SECOND = 1_000;

const ALL = {
  defaultValue: { numerator: 100, denominator: FractionalPercent_DenominatorType.HUNDRED },
};

/** Returns the filters that enforce these limits, each independently. `name`: of the inbound, so that its chains share one counter of connections. */
export function rateLimitFilters(name: string, limits: readonly InboundLimit[]): InboundFilters {
  return ({ statPrefix, isHttp }) => ({
    network: limits.flatMap(({ service, spec: { connections } }) => {
      if (!connections) return [];
      const shareKey = `${name} ${formatOwner(service)}`;
      return [
        packFilter('limit', NetworkLocalRateLimit, { statPrefix, tokenBucket: toTokenBucket(connections), shareKey }),
      ];
    }),
    http: isHttp ? limits.flatMap(({ service, spec }) => requestLimit(statPrefix, service, spec)) : [],
  });
}

function requestLimit(statPrefix: string, service: Identity, { requests }: RateLimitSpec) {
  if (!requests) return [];
  const filter = packFilter('limit', HttpLocalRateLimit, {
    statPrefix,
    status: { code: TOO_MANY_REQUESTS },
    tokenBucket: toTokenBucket(requests),
    filterEnabled: ALL,
    filterEnforced: ALL,
    responseHeadersToAdd: [{ header: { key: LIMITED_BY, value: formatOwner(service) } }],
    rateLimitedAsResourceExhausted: true,
  });
  return [filter];
}

function toTokenBucket({ count = 1, per }: RequestRate) {
  return { maxTokens: count, tokensPerFill: count, fillInterval: toProtoDuration(parseMilliseconds(per, SECOND)) };
}

const formatOwner = ({ namespace, name }: Identity): string => `${namespace}/${name}`;
