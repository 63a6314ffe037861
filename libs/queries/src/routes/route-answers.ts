import type { Named, RequestAnswer, ServiceRoutes } from '@causeway/api';
import type { Identity } from '@causeway/resources';
import {
  connectionAction,
  ruleAction,
  type Binding,
  type RouteDestination,
  type Explanation,
  type RequestOutcome,
  type BindingTable,
  type Share,
} from '@causeway/routing';

type ShareAnswer = NonNullable<RequestAnswer['shares']>[number];
export type DestinationAnswer = NonNullable<ShareAnswer['destination']>;
type RuleAnswer = RoutesAnswer['rules'][number];
/** The rules of one port for one group, by precedence. */
export type RoutesAnswer = ServiceRoutes['tables'][number];

/** Returns an identity in the form of responses. */
export const named = ({ kind, zone, namespace, name }: Identity): Named => ({ kind, zone, namespace, name });

const destinationAnswer = ({ services, port }: RouteDestination): DestinationAnswer => ({
  services: services.slice(0, MAX_SERVICES).map(named),
  port,
});

/** Maximum number of named services of one destination: copies of one service in as many zones. */
const MAX_SERVICES = 256;

function shareAnswer({ weight, total, result }: Share): ShareAnswer {
  if (result.type === 'refused') {
    const { status, grpcStatus, reason } = result;
    return { weight, total, status, ...(grpcStatus === undefined ? {} : { grpcStatus }), reason };
  }
  const { destination, request, responseChanges } = result;
  return {
    weight,
    total,
    destination: destinationAnswer(destination),
    ...(request ? { request } : {}),
    ...(responseChanges.length > 0 ? { responseHeaders: responseChanges } : {}),
  };
}

/** Formats the outcome for an explanation. */
export function outcomeAnswer(outcome: RequestOutcome) {
  switch (outcome.type) {
    case 'implicit':
      return { outcome: outcome.type, shares: outcome.shares.map(shareAnswer) };
    case 'redirected': {
      const { statusCode: status, location, responseChanges } = outcome;
      return {
        outcome: outcome.type,
        status,
        location,
        ...(responseChanges.length > 0 ? { responseHeaders: responseChanges } : {}),
      };
    }
    case 'refused': {
      const { status, grpcStatus, reason } = outcome;
      return { outcome: outcome.type, status, ...(grpcStatus === undefined ? {} : { grpcStatus }), reason };
    }
    case 'routed': {
      const { type, shares, mirrors, requestTimeout, backendTimeout } = outcome;
      const copies = mirrors.map(({ share, to }) =>
        to.ok
          ? { share, destination: destinationAnswer(to.destination) }
          : { share, reason: `${to.unresolved.reason}: ${to.unresolved.message}` },
      );
      return {
        outcome: type,
        shares: shares.map(shareAnswer),
        ...(copies.length > 0 ? { mirrors: copies } : {}),
        ...(requestTimeout === undefined ? {} : { requestTimeout }),
        ...(backendTimeout === undefined ? {} : { backendTimeout }),
      };
    }
  }
}

/** Formats the route, rule and match that decided. */
export function decisionAnswer({ binding, entry }: Explanation): RequestAnswer['decision'] {
  if (!binding) return undefined;
  const { group, kind } = binding;
  const [first] = binding.routes;
  const isConnection = kind !== 'HTTPRoute' && kind !== 'GRPCRoute';
  if (isConnection && first) return { group, kind, route: named(first.id), rule: first.rules[0]?.name ?? '' };
  if (!entry) return { group, kind };
  const { route, rule, match } = entry;
  const filters = rule.rule.filters ?? [];
  return {
    group,
    kind,
    route: named(route.id),
    rule: rule.name,
    match: match.text,
    ...(filters.length > 0 ? { filters } : {}),
  };
}

/** Formats the merged table of a binding, at most `most` matches. */
export function routesAnswer(table: BindingTable, binding: Binding, most: number): RoutesAnswer {
  const { port, group, kind, entries } = binding;
  if (kind !== 'HTTPRoute' && kind !== 'GRPCRoute') {
    const [route] = binding.routes;
    const rule = route?.rules[0];
    const rules =
      route && rule && most > 0
        ? [ruleAnswer(connectionAction(table, binding), route.id, rule.name, 'every connection')]
        : [];
    return { port, group, kind, rules, total: route && rule ? 1 : 0 };
  }
  const rules = entries
    .slice(0, Math.max(0, most))
    .map(({ route, rule, match }) =>
      ruleAnswer(ruleAction(table, binding, route, rule), route.id, rule.name, match.text),
    );
  return { port, group, kind, rules, total: entries.length };
}

function ruleAnswer(action: ReturnType<typeof ruleAction>, id: Identity, rule: string, match: string): RuleAnswer {
  const common = { route: named(id), rule, match, action: action.type };
  if (action.type === 'refused') return { ...common, reason: action.reason };
  if (action.type === 'redirect') return common;
  const { backends, total } = action;
  return {
    ...common,
    backends: backends.map(({ weight, to }) => ({
      weight,
      total,
      to: to.ok ? destinationText(to.destination) : to.reason,
    })),
  };
}

/** `MeshService mesh/echo-v1:80`, of another zone with the zone. */
function destinationText({ services, port }: RouteDestination): string {
  return services
    .slice(0, MAX_SERVICES)
    .map(({ kind, zone, namespace, name }) => `${kind} ${[zone, namespace, name].filter(Boolean).join('/')}:${port}`)
    .join(', ');
}
