import { FractionalPercent_DenominatorType, RouteAction_ClusterNotFoundResponseCode } from '@causeway/proto-gen';
import type { Violation } from '@causeway/resources';
import {
  ruleAction,
  type Binding,
  type Entry,
  type Filter,
  type MirrorAction,
  type BindingTable,
  type ForwardAction,
  type RuleAction,
  type WeightedBackend,
} from '@causeway/routing';
import type { HashOf } from '../policies/hash-policies';
import { backendShares, type BackendShare, type ClustersOf } from './backend-shares';
import {
  changesHeaders,
  changesHost,
  headerFields,
  redirectFields,
  replacesPrefix,
  rewriteFields,
} from './route-filters';
import {
  faultConfig,
  headerFilters,
  retryFields,
  timeFields,
  computeRuleTimes,
  type AlwaysRepeated,
  type PoliciesOf,
  type RulePolicies,
} from '../policies/rule-policies';
import { entryMatches } from './route-match';
import type { RouteActionFields, RouteFields, RouteMatchFields } from '../model/message-fields';

export interface HttpRoutesOptions {
  readonly table: BindingTable;
  readonly listClusters: ClustersOf;
  /** The retries of every rule. */
  readonly retryPolicy: AlwaysRepeated;
  readonly selectPolicies: PoliciesOf;
  readonly toHashPolicies: HashOf;
}

/** The routes of a binding, and the parts of it that Envoy cannot express. */
export interface HttpRoutes {
  readonly routes: readonly RouteFields[];
  readonly problems: readonly Violation[];
}

/**
 * Translates the rules of a binding of HTTPRoutes or GRPCRoutes to Envoy's routes, in the binding's order: the first match wins. A request that no
 * route matches is answered with 404. Linear in the entries.
 */
export function httpRoutes(binding: Binding, options: HttpRoutesOptions): HttpRoutes {
  const rules = new Map<Entry['rule'], EnvoyRule>();
  const routes = binding.entries.flatMap((entry) => {
    const rule = rules.get(entry.rule) ?? new EnvoyRule(binding, entry, options);
    rules.set(entry.rule, rule);
    return rule.routes(entry);
  });
  return { routes, problems: [...rules.values()].flatMap(({ problems }) => problems) };
}

/** Translates one rule, with a route for each of its matches. */
class EnvoyRule {
  readonly problems: readonly Violation[];
  private readonly name: string;
  private readonly action: RuleAction;
  private readonly shares: readonly BackendShare[];
  /** Whether header changes are set on each backend, the rule's changes first: Envoy would apply those of a cluster before those of its route. */
  private readonly isByBackend: boolean;
  private readonly policies: RulePolicies;
  /** The filters of policies, then the rule's own. */
  private readonly filters: readonly Filter[];

  constructor(
    private readonly binding: Binding,
    private readonly entry: Entry,
    private readonly options: HttpRoutesOptions,
  ) {
    const { route, rule } = entry;
    this.name = `${route.id.namespace}/${route.id.name}/${rule.name}`;
    const action = ruleAction(options.table, binding, route, rule);
    this.action = action.type === 'forward' ? withOnlyRewrite(action) : action;
    const backends = this.action.type === 'forward' ? this.action.backends : [];
    const possible = backends.map((each) => (rewritesPath(each.filters) ? { ...each, to: IMPOSSIBLE } : each));
    this.shares = backendShares(possible, options.listClusters);
    this.isByBackend = backends.some((each) => changesHeaders(each.filters));
    const filters = 'filters' in this.action ? this.action.filters : [];
    this.policies = options.selectPolicies(entry);
    this.filters = [...headerFilters(this.policies.headers), ...filters];
    this.problems = [
      ...(backends.some((each) => rewritesPath(each.filters)) ? [this.problem(IMPOSSIBLE.reason)] : []),
      ...([filters, ...backends.map((each) => each.filters)].some(changesHost)
        ? [this.problem('the header Host is not changed: URLRewrite with hostname does that')]
        : []),
    ];
  }

  routes(entry: Entry): readonly RouteFields[] {
    const faults = faultConfig(this.policies.fault, isGrpc(this.binding));
    return entryMatches(entry, replacesPrefix(this.filters)).map((match) => ({
      name: this.name,
      match,
      ...(!this.isByBackend && headerFields(this.filters)),
      ...faults,
      action: this.actionFor(match),
    }));
  }

  private actionFor(match: RouteMatchFields): NonNullable<RouteFields['action']> {
    const { action, binding } = this;
    switch (action.type) {
      case 'refused':
        return { $case: 'directResponse', value: { status: isGrpc(binding) ? 503 : 500 } };
      case 'redirect':
        return { $case: 'redirect', value: redirectFields(action.redirect, match, binding.port) };
      case 'forward':
        return { $case: 'route', value: this.forward(action, match) };
    }
  }

  private forward(action: ForwardAction, match: RouteMatchFields): RouteActionFields {
    const { retryPolicy, listClusters, toHashPolicies } = this.options;
    const times = computeRuleTimes(this.entry.rule.rule.timeouts, this.policies);
    return {
      clusterSpecifier: this.clusterSpecifier(),
      clusterNotFoundResponseCode: notFoundCode(this.binding),
      ...rewriteFields(action.filters.find(({ urlRewrite }) => urlRewrite)?.urlRewrite, match),
      requestMirrorPolicies: action.mirrors.flatMap((mirror) => mirrorPolicy(mirror, listClusters)),
      hashPolicy: toHashPolicies(this.shares.map(({ cluster }) => cluster)),
      ...timeFields(times),
      retryPolicy: retryFields(retryPolicy, times.attempt, this.policies.retry),
    };
  }

  private clusterSpecifier(): NonNullable<RouteActionFields['clusterSpecifier']> {
    const [only, ...others] = this.shares;
    if (only && others.length === 0 && only.backend.filters.length === 0)
      return { $case: 'cluster', value: only.cluster };
    const clusters = this.shares.map(({ cluster, weight, backend: { filters } }) => {
      const hostname = filters.find(({ urlRewrite }) => urlRewrite)?.urlRewrite?.hostname;
      const host = { $case: 'hostRewriteLiteral' as const, value: hostname ?? '' };
      return {
        name: cluster,
        weight,
        ...(this.isByBackend && headerFields([...this.filters, ...filters])),
        ...(hostname !== undefined && { hostRewriteSpecifier: host }),
      };
    });
    return { $case: 'weightedClusters', value: { clusters } };
  }

  private problem(reason: string): Violation {
    return { field: this.name, rule: 'not-allowed', reason };
  }
}

const IMPOSSIBLE = {
  ok: false,
  reason: 'a path cannot be rewritten for one of several backends: its share is refused',
} as const;

const rewritesPath = (filters: readonly Filter[]): boolean =>
  filters.some(({ urlRewrite }) => urlRewrite?.path !== undefined);

/** Moves the rewrite of a rule's only backend to the rule. */
function withOnlyRewrite(action: ForwardAction): ForwardAction {
  const [only, ...others] = action.backends;
  if (!only || others.length > 0 || action.filters.some(({ urlRewrite }) => urlRewrite)) return action;
  const isRewrite = ({ urlRewrite }: Filter): boolean => urlRewrite !== undefined;
  const backend: WeightedBackend = { ...only, filters: only.filters.filter((each) => !isRewrite(each)) };
  return { ...action, backends: [backend], filters: [...action.filters, ...only.filters.filter(isRewrite)] };
}

const isGrpc = ({ kind }: Binding): boolean => kind === 'GRPCRoute';

/** gRPC calls get UNAVAILABLE, to which Envoy maps 503. */
function notFoundCode(binding: Binding): RouteAction_ClusterNotFoundResponseCode {
  const { INTERNAL_SERVER_ERROR, SERVICE_UNAVAILABLE } = RouteAction_ClusterNotFoundResponseCode;
  return isGrpc(binding) ? SERVICE_UNAVAILABLE : INTERNAL_SERVER_ERROR;
}

const MILLION = 1_000_000;

/** Mirrors to the first service of a destination, or to none if it has no service. Percentages are rounded to millionths. */
function mirrorPolicy({ numerator, denominator, to }: MirrorAction, listClusters: ClustersOf) {
  const [part] = to.ok ? listClusters(to.destination) : [];
  if (!part || denominator <= 0) return [];
  const share = Math.min(MILLION, Math.round((numerator / denominator) * MILLION));
  const defaultValue = { numerator: share, denominator: FractionalPercent_DenominatorType.MILLION };
  return [{ cluster: part.cluster, runtimeFraction: { defaultValue }, disableShadowHostSuffixAppend: true }];
}
