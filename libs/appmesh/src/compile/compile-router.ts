import { FieldPath, isDnsLabel, type JsonObject, type Violation, type ViolationReport } from '@causeway/resources';
import {
  listenerProtocols,
  type GrpcRouteBody,
  type HttpRouteBody,
  type PortMapping,
  type Protocol,
  type RouterRoute,
  type TcpRouteBody,
  type VirtualRouterSpec,
  type WeightedTarget,
} from '../model';
import { checkFields } from './known-fields';
import { grpcMatch, httpMatch } from './matches';
import { priorityViolations, type OrderedRule } from './priorities';
import { compileRetry, compileTimeouts } from './route-policies';

/** One rule of the route compiled from a listener, without its backends, which are added where the nodes are known. */
export interface RouterRule extends OrderedRule {
  /** Section name by which policies target it. */
  readonly section: string;
  readonly targets: readonly WeightedTarget[];
  /** Fields of the rule besides name and backends. */
  readonly rule: JsonObject;
  readonly timeout?: JsonObject;
  readonly retry?: JsonObject;
}

/** Result of compiling a router's spec, by listener in order; not used if there are violations. */
export interface CompiledRouter {
  readonly listeners: readonly { readonly listener: PortMapping; readonly rules: readonly RouterRule[] }[];
  readonly violations: readonly Violation[];
}

/** Maximum number of rules of one route (Gateway API, HTTPRoute.spec.rules). */
const MAX_RULES = 16;
const FIELDS = {
  http: ['http', 'httpRoute'],
  http2: ['http2', 'http2Route'],
  grpc: ['grpc', 'grpcRoute'],
  tcp: ['tcp', 'tcpRoute'],
} as const satisfies Readonly<Record<Protocol, readonly [string, string]>>;
const ROUTE = { known: ['name', 'priority', ...Object.values(FIELDS).flat()], refused: {} };
const BODY = { known: ['match', 'action', 'timeout', 'retryPolicy'], refused: {} };
const LISTENER = { known: ['portMapping'], refused: {} };
const TARGET = { known: ['virtualNodeRef', 'weight', 'port'], refused: {} };

const compiled = new WeakMap<VirtualRouterSpec, CompiledRouter>();

/** Compiles a router's spec, once for all services that use it. Linear in it, except for priorities: pairs of the rules of a listener. */
export function compileRouter(spec: VirtualRouterSpec): CompiledRouter {
  const known = compiled.get(spec);
  if (known) return known;
  const made = compileAnew(spec);
  compiled.set(spec, made);
  return made;
}

/** Returns the parts of a router's spec that cannot be compiled exactly, by field; for admission. */
export function routerViolations(spec: VirtualRouterSpec, at: FieldPath): readonly Violation[] {
  return compileAnew(spec, at).violations;
}

function compileAnew({ listeners = [], routes = [] }: VirtualRouterSpec, at = FieldPath.at('spec')): CompiledRouter {
  const found: Violation[] = [];
  const all = routes.map((route, i) => compileRoute(route, i, { at: at.field('routes').index(i), found }));
  const perListener = listeners.map((each, i) => {
    const place = at.field('listeners').index(i);
    checkFields(each, LISTENER, place, found);
    const { port, protocol } = each.portMapping;
    const meant = all.filter((one) => one?.protocol === protocol && (one.port === undefined || one.port === port));
    const rules = meant.flatMap((one) => (one ? [one] : []));
    const most = protocol === 'tcp' ? 1 : MAX_RULES;
    if (rules.length > most)
      found.push(place.violation(`must have at most ${most} routes of ${protocol}, has ${rules.length}`, 'too-many'));
    else found.push(...priorityViolations(rules, at.field('routes')));
    return { listener: { port, protocol }, rules: rules.sort(byPriority) };
  });
  return { listeners: perListener, violations: found };
}

const byPriority = (a: RouterRule, b: RouterRule): number => (a.priority ?? Infinity) - (b.priority ?? Infinity) || 0;

type Body = HttpRouteBody | GrpcRouteBody | TcpRouteBody;

function compileRoute(
  route: RouterRoute,
  index: number,
  { at, found }: ViolationReport,
): (RouterRule & { readonly protocol: Protocol; readonly port?: number }) | undefined {
  checkFields(route, ROUTE, at, found);
  const bodies = listenerProtocols.flatMap((protocol) =>
    FIELDS[protocol].flatMap((field) => {
      const body: Body | undefined = route[field];
      return body ? [{ protocol, body, place: at.field(field) }] : [];
    }),
  );
  const [only, second] = bodies;
  if (!only || second) {
    found.push(at.violation('must have one of http, http2, grpc, tcp', second ? 'not-allowed' : 'required'));
    return undefined;
  }
  const { protocol, body, place } = only;
  checkFields(body, BODY, place, found);
  const matched = compileMatches(protocol, body, { at: place.field('match'), found });
  const timeouts = body.timeout && compileTimeouts(body.timeout, protocol, { at: place.field('timeout'), found });
  const retry = body.retryPolicy && compileRetry(body.retryPolicy, protocol, { at: place.field('retryPolicy'), found });
  const targets = body.action?.weightedTargets ?? [];
  const targetsAt = place.field('action').field('weightedTargets');
  targets.forEach((target, i) => checkFields(target, TARGET, targetsAt.index(i), found));
  const port = body.match?.port;
  return {
    protocol,
    index,
    targets,
    section: isDnsLabel(route.name) ? route.name : `route-${index + 1}`,
    rule: { ...matched, ...(timeouts?.rule && { timeouts: timeouts.rule }) },
    ...(route.priority === undefined ? {} : { priority: route.priority }),
    ...(port === undefined ? {} : { port }),
    ...(timeouts?.policy && { timeout: timeouts.policy }),
    ...(retry && { retry }),
  };
}

function compileMatches(protocol: Protocol, { match = {} }: Body, { at, found }: ViolationReport): JsonObject {
  if (protocol === 'tcp') {
    checkFields(match, { known: ['port'], refused: {} }, at, found);
    return {};
  }
  const one = protocol === 'grpc' ? grpcMatch(match, at, found) : httpMatch(match, at, found);
  return one ? { matches: [one] } : {};
}
