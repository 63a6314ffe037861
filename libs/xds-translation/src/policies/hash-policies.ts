import type { HashEntry, LoadBalancingSpec } from '@causeway/policies';
import { toProtoDuration } from '@causeway/xds-server';
import { parseMilliseconds } from './cluster-rules';

/** One input of the hash of a request, in a route's terms. */
export interface HashFields {
  readonly policySpecifier:
    | { $case: 'header'; value: { headerName: string } }
    | { $case: 'cookie'; value: { name: string; ttl?: ReturnType<typeof toProtoDuration>; path?: string } }
    | { $case: 'connectionProperties'; value: { sourceIp: boolean } }
    | { $case: 'queryParameter'; value: { name: string } };
}

/** Returns the hash inputs of a rule that routes to these clusters. */
export type HashOf = (clusters: readonly string[]) => HashFields[];

/** Returns the hash inputs for a destination; none if it does not balance by hash. */
export function hashPolicies(spec: LoadBalancingSpec | undefined): HashFields[] {
  if (spec?.algorithm !== 'RingHash' && spec?.algorithm !== 'Maglev') return [];
  return (spec.hash ?? []).flatMap((entry) => parts(entry).map((policySpecifier) => ({ policySpecifier })));
}

function parts({ header, cookie, ttl, sourceAddress, queryParameter }: HashEntry): HashFields['policySpecifier'][] {
  const kept = ttl === undefined ? {} : { ttl: toProtoDuration(parseMilliseconds(ttl, 0)), path: '/' };
  return [
    ...(header === undefined ? [] : [{ $case: 'header' as const, value: { headerName: header } }]),
    ...(cookie === undefined ? [] : [{ $case: 'cookie' as const, value: { name: cookie, ...kept } }]),
    ...(sourceAddress ? [{ $case: 'connectionProperties' as const, value: { sourceIp: true } }] : []),
    ...(queryParameter === undefined ? [] : [{ $case: 'queryParameter' as const, value: { name: queryParameter } }]),
  ];
}
