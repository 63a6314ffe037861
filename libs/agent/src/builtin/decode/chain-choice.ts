import {
  ApplicationProtocolInput,
  ConsistentHashing,
  type FilterChain,
  type FilterChainMatch,
  type MatcherTree,
  ServerNameInput,
  StringValue,
  TransportProtocolInput,
} from '@causeway/proto-gen';
import { asMessage, UnsupportedConfig } from './unsupported-config';

/** Properties of a connection that are read from its first bytes. */
export interface Opening {
  readonly isTls: boolean;
  /** Server name (SNI); empty if the client sent none. */
  readonly serverName: string;
  /** Protocol names that the client offers (ALPN). */
  readonly alpn: readonly string[];
}

/** Opening of a plaintext connection. */
export const PLAINTEXT_OPENING: Opening = { isTls: false, serverName: '', alpn: [] };

/** Returns the name of the filter chain that accepts a connection; undefined if no chain matches. */
export type ChainChoice = (opening: Opening) => string | undefined;

type MatcherNode = MatcherTree;
type OnMatch = NonNullable<MatcherNode['onNoMatch']>;
type FieldMatcher = Extract<
  NonNullable<MatcherNode['matcherType']>,
  { $case: 'matcherList' }
>['value']['matchers'][number];
type Single = Extract<
  NonNullable<NonNullable<FieldMatcher['predicate']>['matchType']>,
  { $case: 'singlePredicate' }
>['value'];
type StringMatcher = Extract<NonNullable<Single['matcher']>, { $case: 'valueMatch' }>['value'];

/** Decodes how a listener selects filter chains. @throws UnsupportedConfig */
export function decodeChainChoice(chains: readonly FilterChain[], matcher: MatcherTree | undefined): ChainChoice {
  return matcher ? byTree(matcher) : byMatches(chains);
}

function byTree({ matcherType, onNoMatch }: MatcherNode): ChainChoice {
  const otherwise = byMatch(onNoMatch);
  if (matcherType?.$case === 'matcherList') {
    const tried = matcherType.value.matchers.flatMap(fieldChoice);
    return (opening) => (tried.find(({ fits }) => fits(opening))?.choose ?? otherwise)(opening);
  }
  if (matcherType?.$case !== 'matcherTree') throw new UnsupportedConfig('filterChainMatcher', 'is not known');
  const { input, treeType } = matcherType.value;
  if (treeType?.$case !== 'exactMatchMap') throw new UnsupportedConfig('filterChainMatcher', 'is not an exact match');
  const config = input?.typedConfig;
  const isTransport = asMessage(TransportProtocolInput, config) !== undefined;
  const isServerName = asMessage(ServerNameInput, config) !== undefined;
  if (!isTransport && !isServerName && !asMessage(ApplicationProtocolInput, config))
    throw new UnsupportedConfig('filterChainMatcher', `${config?.typeUrl ?? 'nothing'} is not known`);
  const branches = new Map(Object.entries(treeType.value.map).map(([value, on]) => [value, byMatch(on)]));
  return (opening) => {
    const { serverName, alpn } = opening;
    const offered = isServerName ? serverName : alpn.map((name) => `'${name}'`).join(',');
    return (branches.get(isTransport ? getTransport(opening) : offered) ?? otherwise)(opening);
  };
}

/** Returns the matches of one list entry and their targets; empty for an entry that only groups sources by hash. */
function fieldChoice({ predicate, onMatch }: FieldMatcher): readonly {
  readonly fits: (opening: Opening) => boolean;
  readonly choose: ChainChoice;
}[] {
  const single = predicate?.matchType;
  if (single?.$case !== 'singlePredicate') throw new UnsupportedConfig('filterChainMatcher', 'has no single predicate');
  const { input, matcher } = single.value;
  // Source groups lead to copies of one chain; this dataplane counts each source address separately.
  if (matcher?.$case === 'customMatch' && asMessage(ConsistentHashing, matcher.value.typedConfig)) return [];
  if (!asMessage(ServerNameInput, input?.typedConfig) || matcher?.$case !== 'valueMatch')
    throw new UnsupportedConfig('filterChainMatcher', `${input?.typedConfig?.typeUrl ?? 'nothing'} is not known`);
  const fits = textRule(matcher.value);
  return [{ fits: ({ serverName }) => fits(serverName), choose: byMatch(onMatch) }];
}

function textRule({ matchPattern, ignoreCase }: StringMatcher): (text: string) => boolean {
  const pattern = ignoreCase ? undefined : matchPattern;
  if (pattern?.$case === 'exact') return (text) => text === pattern.value;
  if (pattern?.$case === 'prefix') return (text) => text.startsWith(pattern.value);
  if (pattern?.$case === 'suffix') return (text) => text.endsWith(pattern.value);
  throw new UnsupportedConfig('filterChainMatcher', 'compares a server name in a way that is not known');
}

function byMatch(match: OnMatch | undefined): ChainChoice {
  const on = match?.onMatch;
  if (!on) return () => undefined;
  if (on.$case === 'matcher') return byTree(on.value);
  const name = asMessage(StringValue, on.value.typedConfig)?.value;
  if (name === undefined) throw new UnsupportedConfig('filterChainMatcher', 'an action names no chain');
  return () => name;
}

function getTransport({ isTls }: Opening): string {
  return isTls ? 'tls' : 'raw_buffer';
}

/** Selects the chain with the most specific match on the server name. */
function byMatches(chains: readonly FilterChain[]): ChainChoice {
  const candidates = chains.map(({ name, filterChainMatch }) => ({ name, rank: rankChain(filterChainMatch) }));
  return (opening) => {
    let best: { readonly name: string; readonly rank: number } | undefined;
    for (const { name, rank } of candidates) {
      const found = rank(opening);
      if (found >= 0 && found > (best?.rank ?? -1)) best = { name, rank: found };
    }
    return best?.name;
  };
}

/** Returns how specifically a match applies to a connection; below 0 if it does not match. */
function rankChain(match: FilterChainMatch | undefined): (opening: Opening) => number {
  if (!match) return () => 0;
  const { serverNames, transportProtocol, ...others } = match;
  const { destinationPort, prefixRanges, sourcePrefixRanges, sourcePorts, applicationProtocols } = others;
  const isMore = destinationPort !== undefined || applicationProtocols.length > 0;
  if (isMore || prefixRanges.length + sourcePrefixRanges.length + sourcePorts.length > 0)
    throw new UnsupportedConfig('filterChainMatch', 'matches more than the transport and the server name');
  return (opening) => {
    if (transportProtocol !== '' && transportProtocol !== getTransport(opening)) return -1;
    if (serverNames.length === 0) return 0;
    return Math.max(...serverNames.map((name) => nameRank(name, opening.serverName)));
  };
}

function nameRank(pattern: string, serverName: string): number {
  if (!pattern.startsWith('*')) return pattern === serverName ? Number.MAX_SAFE_INTEGER : -1;
  return serverName.length >= pattern.length && serverName.endsWith(pattern.slice(1)) ? pattern.length : -1;
}
