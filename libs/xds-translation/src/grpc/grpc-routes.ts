import { FractionalPercent_DenominatorType, HTTPFault } from '@causeway/proto-gen';
import {
  connectionAction,
  ruleAction,
  type Binding,
  type RouteDestination,
  type Entry,
  type BindingTable,
  type ForwardAction,
  type RuleAction,
} from '@causeway/routing';
import { pack } from '@causeway/xds-server';
import type { HashOf } from '../policies/hash-policies';
import { FAULT_FILTER, type PoliciesOf, type RulePolicies } from '../policies/rule-policies';
import { callFaults, callFields, lostPolicies, type CallFields } from './grpc-policies';
import { grpcMatch } from './grpc-match';
import type { RouteFields, RouteMatchFields } from '../model/message-fields';

type ActionSpecifier = NonNullable<RouteFields['action']>;

/** A cluster without endpoints: calls to it fail with UNAVAILABLE. */
export const NO_BACKEND = 'no-backend';
const UNIMPLEMENTED = 12;

/** The cluster in which clients of a frontend reach a destination, and the parts of the destination that they cannot reach. */
export interface GrpcCluster {
  readonly cluster: string;
  readonly lost?: string;
}

/** The tables in which the rules of a binding are looked up. */
export interface GrpcRoutesOptions {
  readonly table: BindingTable;
  readonly toCluster: (destination: RouteDestination) => GrpcCluster;
  readonly selectPolicies: PoliciesOf;
  readonly toHashPolicies: HashOf;
}

/** The routes in the listener of a channel. */
export interface GrpcRoutes {
  /** In order of precedence; the last route takes every call. */
  readonly routes: readonly RouteFields[];
  /** Parts of the binding that a client does not apply, each with its rule; empty if calls are handled as an Envoy handles requests. */
  readonly lost: readonly string[];
}

/**
 * Translates a binding for gRPC clients. Weights are exact; a share or rule without a backend fails with UNAVAILABLE, a call that no rule matches
 * with UNIMPLEMENTED (T002-11). A filter that changes requests or responses is never silently dropped: its calls fail and `lost` names the rule.
 * Linear in the matches and backends.
 */
export function grpcRoutes(
  binding: Binding,
  { table, toCluster, selectPolicies, toHashPolicies }: GrpcRoutesOptions,
): GrpcRoutes {
  const lost = new Set<string>();
  const rules = new Map<Entry['rule'], Omit<RouteFields, 'match'>>();
  const ruleFields = (
    { route, rule }: Entry,
    policies: RulePolicies,
    reportLoss: ReportLoss,
  ): Omit<RouteFields, 'match'> => {
    lostPolicies(policies).forEach(reportLoss);
    const call = callFields(rule.rule.timeouts, policies);
    const action = actionFields(ruleAction(table, binding, route, rule), call, {
      toCluster,
      toHashPolicies,
      reportLoss,
    });
    return { action, ...callFaults(policies) };
  };
  if (binding.kind !== 'HTTPRoute' && binding.kind !== 'GRPCRoute') {
    const [route] = binding.routes;
    const reportLoss: ReportLoss = (what) => void lost.add(`${route ? formatRouteName(route) : binding.kind}: ${what}`);
    const action = actionFields(connectionAction(table, binding), {}, { toCluster, toHashPolicies, reportLoss });
    return { routes: [{ match: EVERY_CALL, action }], lost: [...lost] };
  }
  const routes = binding.entries.flatMap((entry): RouteFields[] => {
    const { route, rule } = entry;
    const reportLoss: ReportLoss = (what) => void lost.add(`${formatRouteName(route)} ${rule.name}: ${what}`);
    const translated = grpcMatch(entry);
    if (!translated.ok) reportLoss(translated.reason);
    const matches = translated.ok ? translated.matches : [];
    if (matches.length === 0) return [];
    const fields = rules.get(rule) ?? ruleFields(entry, selectPolicies(entry), reportLoss);
    rules.set(rule, fields);
    return matches.map((match) => ({ match, ...fields }));
  });
  return { routes: [...routes, UNMATCHED], lost: [...lost] };
}

const EVERY_CALL: RouteMatchFields = { pathSpecifier: { $case: 'prefix', value: '' } };
const NOWHERE: ActionSpecifier = {
  $case: 'route',
  value: { clusterSpecifier: { $case: 'cluster', value: NO_BACKEND } },
};

/** Clients without the filter answer UNAVAILABLE. */
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

const formatRouteName = ({ kind, id }: Entry['route']): string => `${kind} ${id.namespace}/${id.name}`;

/** Reports a part that a client does not apply. */
type ReportLoss = (what: string) => void;
interface Reach extends Pick<GrpcRoutesOptions, 'toCluster' | 'toHashPolicies'> {
  readonly reportLoss: ReportLoss;
}

function actionFields(action: RuleAction, call: CallFields, reach: Reach): ActionSpecifier {
  const { reportLoss } = reach;
  if (action.type === 'refused') return NOWHERE;
  if (action.type === 'redirect') {
    reportLoss('gRPC clients follow no redirect: calls fail');
    return NOWHERE;
  }
  const changing = findChangedField(action.filters);
  if (changing !== undefined) {
    reportLoss(`gRPC clients have no filter ${changing}: calls fail`);
    return NOWHERE;
  }
  if (action.mirrors.length > 0) reportLoss('gRPC clients mirror no calls');
  return forwardFields(action, call, reach);
}

function forwardFields(
  { backends }: ForwardAction,
  call: CallFields,
  { toCluster, toHashPolicies, reportLoss }: Reach,
): ActionSpecifier {
  const weights = new Map<string, number>();
  for (const { weight, to, filters } of backends) {
    const changing = findChangedField(filters);
    if (changing !== undefined) reportLoss(`gRPC clients have no filter ${changing} of a backend: its share fails`);
    const found = to.ok && changing === undefined ? toCluster(to.destination) : { cluster: NO_BACKEND };
    if (found.lost !== undefined) reportLoss(found.lost);
    weights.set(found.cluster, (weights.get(found.cluster) ?? 0) + weight);
  }
  const [first = NO_BACKEND, ...others] = weights.keys();
  const clusters = [...weights].map(([name, weight]) => ({ name, weight }));
  return {
    $case: 'route',
    value: {
      clusterSpecifier:
        others.length === 0 ? { $case: 'cluster', value: first } : { $case: 'weightedClusters', value: { clusters } },
      hashPolicy: toHashPolicies([...weights.keys()]),
      ...call,
    },
  };
}

/** Returns the type of the first filter that changes requests or responses. */
function findChangedField(filters: ForwardAction['filters']): string | undefined {
  return filters.find(({ type }) => type !== 'RequestMirror')?.type;
}
