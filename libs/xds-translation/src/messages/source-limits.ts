import {
  ConnectionLimit,
  ConsistentHashing,
  type MatcherTree,
  NetworkLocalRateLimit,
  SourceIPInput,
} from '@causeway/proto-gen';
import { toProtoDuration, packExtension, packFilter } from '@causeway/xds-server';
import { takeChain } from './outbound-listeners';

/** The limits of one source address at a zone proxy. Addresses with the same hash are one group and share its limits. */
export interface SourceLimitSettings {
  /** Concurrent connections. */
  readonly connections: number;
  /** New connections per second; the burst is four times as many. */
  readonly perSecond: number;
}

/** A source is often a whole network behind one address, such as all clients of another zone. */
export const DEFAULT_SOURCE_LIMITS: SourceLimitSettings = { connections: 8_192, perSecond: 500 };

/** Returns the limit filters of one group of sources: each group has a filter chain, because Envoy has no counters by address. */
export function limitFilters(statPrefix: string, { connections, perSecond }: SourceLimitSettings) {
  const tokenBucket = { maxTokens: perSecond * 4, tokensPerFill: perSecond, fillInterval: toProtoDuration(1_000) };
  return [
    packFilter('rate-limit', NetworkLocalRateLimit, { statPrefix, tokenBucket }),
    packFilter('connection-limit', ConnectionLimit, { statPrefix, maxConnections: connections }),
  ];
}

/** Returns a matcher that picks the chain of the source's group. `groups`: a power of two. */
export function bySourceGroup(groups: number, formatChain: (group: number) => string): ReturnType<typeof byHash> {
  return byHash({ groups, formatChain }, 0, groups);
}

interface Groups {
  readonly groups: number;
  readonly formatChain: (group: number) => string;
}

interface MatcherFork {
  readonly onMatch: { readonly $case: 'matcher'; readonly value: Parameters<typeof MatcherTree.fromPartial>[0] };
}

/** Bisects the groups from `low` to below `high`. */
function byHash(of: Groups, low: number, high: number): ReturnType<typeof takeChain> | MatcherFork {
  if (high - low === 1) return takeChain(of.formatChain(low));
  const middle = (low + high) / 2;
  const singlePredicate = {
    input: packExtension('source', SourceIPInput, {}),
    matcher: {
      $case: 'customMatch' as const,
      value: packExtension('hash', ConsistentHashing, { modulo: of.groups, threshold: middle }),
    },
  };
  const upper = {
    predicate: { matchType: { $case: 'singlePredicate' as const, value: singlePredicate } },
    onMatch: byHash(of, middle, high),
  };
  const value = {
    matcherType: { $case: 'matcherList' as const, value: { matchers: [upper] } },
    onNoMatch: byHash(of, low, middle),
  };
  return { onMatch: { $case: 'matcher', value } };
}
