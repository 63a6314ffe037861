import { FractionalPercent_DenominatorType, HTTPFault, type Route } from '@causeway/proto-gen';
import {
  connectionAction,
  ruleAction,
  type Binding,
  type Destination,
  type Entry,
  type RouteTable,
  type RuleAction,
} from '@causeway/routing';
import { durationOf, pack } from '../resources/any';
import { grpcMatch, type MatchFields } from './grpc-match';

type RouteFields = Parameters<typeof Route.fromPartial>[0];
type ActionFields = NonNullable<RouteFields['action']>;
type Forward = Extract<RuleAction, { type: 'forward' }>;

/** The filter of gRPC's clients that answers calls in place of a server. */
export const FAULT_FILTER = 'fault';
/** The cluster without endpoints: calls to it fail with UNAVAILABLE. */
export const NO_BACKEND = 'no-backend';
const UNIMPLEMENTED = 12;

/** The cluster that reaches a destination for the clients of a frontend, and what of the destination it cannot reach. */
export interface GrpcCluster {
  readonly cluster: string;
  readonly lost?: string;
}

/** What the listener of a channel says of calls. */
export interface GrpcRoutes {
  /** The first that matches decides; the last takes every call. */
  readonly routes: readonly RouteFields[];
  /** What of the binding a client does not do, with the rule; empty where calls do what a request would. */
  readonly lost: readonly string[];
}

/**
 * A binding as gRPC clients obey it. Weights are exact; a share or a rule that leads nowhere fails with UNAVAILABLE, a call that no
 * rule matches with UNIMPLEMENTED (T002-11). A filter that changes requests or answers is never left out: its calls fail and the
 * rule is in `lost`. Linear in the matches and backends.
 */
export function grpcRoutes(
  table: RouteTable,
  binding: Binding,
  clusterOf: (destination: Destination) => GrpcCluster,
): GrpcRoutes {
  const lost = new Set<string>();
  const actions = new Map<Entry['rule'], ActionFields>();
  if (binding.kind !== 'HTTPRoute' && binding.kind !== 'GRPCRoute') {
    const [route] = binding.routes;
    const tell = (what: string): void => void lost.add(`${route ? nameOf(route) : binding.kind}: ${what}`);
    const action = actionFields(connectionAction(table, binding), clusterOf, tell);
    return { routes: [{ match: EVERY_CALL, action }], lost: [...lost] };
  }
  const routes = binding.entries.flatMap((entry): RouteFields[] => {
    const { route, rule } = entry;
    const tell = (what: string): void => void lost.add(`${nameOf(route)} ${rule.name}: ${what}`);
    const said = grpcMatch(entry);
    if (!said.ok) tell(said.reason);
    const matches = said.ok ? said.matches : [];
    if (matches.length === 0) return [];
    const action = actions.get(rule) ?? actionFields(ruleAction(table, binding, route, rule), clusterOf, tell);
    actions.set(rule, action);
    return matches.map((match) => ({ match, action }));
  });
  return { routes: [...routes, UNMATCHED], lost: [...lost] };
}

const EVERY_CALL: MatchFields = { pathSpecifier: { $case: 'prefix', value: '' } };
const NOWHERE: ActionFields = {
  $case: 'route',
  value: { clusterSpecifier: { $case: 'cluster', value: NO_BACKEND } },
};

/** A client without the filter answers UNAVAILABLE. */
const UNMATCHED: RouteFields = {
  match: EVERY_CALL,
  action: NOWHERE,
  typedPerFilterConfig: {
    [FAULT_FILTER]: pack(HTTPFault, {
      abort: {
        errorType: { $case: 'grpcStatus', value: UNIMPLEMENTED },
        percentage: { numerator: 100, denominator: FractionalPercent_DenominatorType.HUNDRED },
      },
    }),
  },
};

const nameOf = ({ kind, id }: Entry['route']): string => `${kind} ${id.namespace}/${id.name}`;

function actionFields(
  action: RuleAction,
  clusterOf: (destination: Destination) => GrpcCluster,
  tell: (what: string) => void,
): ActionFields {
  if (action.type === 'refused') return NOWHERE;
  if (action.type === 'redirect') {
    tell('gRPC clients follow no redirect: calls fail');
    return NOWHERE;
  }
  const changing = changeOf(action.filters);
  if (changing !== undefined) {
    tell(`gRPC clients have no filter ${changing}: calls fail`);
    return NOWHERE;
  }
  if (action.mirrors.length > 0) tell('gRPC clients mirror no calls');
  return forwardFields(action, clusterOf, tell);
}

function forwardFields(
  { backends, requestTimeout, backendTimeout }: Forward,
  clusterOf: (destination: Destination) => GrpcCluster,
  tell: (what: string) => void,
): ActionFields {
  const weights = new Map<string, number>();
  for (const { weight, to, filters } of backends) {
    const changing = changeOf(filters);
    if (changing !== undefined) tell(`gRPC clients have no filter ${changing} of a backend: its share fails`);
    const found = to.ok && changing === undefined ? clusterOf(to.destination) : { cluster: NO_BACKEND };
    if (found.lost !== undefined) tell(found.lost);
    weights.set(found.cluster, (weights.get(found.cluster) ?? 0) + weight);
  }
  const [first = NO_BACKEND, ...others] = weights.keys();
  const clusters = [...weights].map(([name, weight]) => ({ name, weight }));
  const timeouts = [requestTimeout, backendTimeout].filter((each) => each !== undefined);
  return {
    $case: 'route',
    value: {
      clusterSpecifier:
        others.length === 0 ? { $case: 'cluster', value: first } : { $case: 'weightedClusters', value: { clusters } },
      // One try a call, so the shorter of the two ends it.
      ...(timeouts.length > 0 && { maxStreamDuration: { maxStreamDuration: durationOf(Math.min(...timeouts)) } }),
    },
  };
}

/** The type of a filter that changes what is sent or answered. */
function changeOf(filters: Forward['filters']): string | undefined {
  return filters.find(({ type }) => type !== 'RequestMirror')?.type;
}
