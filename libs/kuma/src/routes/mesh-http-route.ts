import type { Identity, JsonObject, Labels } from '@causeway/resources';
import {
  listRouteBindings,
  PRODUCER,
  ruleAction,
  type Binding,
  type CompiledRoute,
  type CompiledRule,
  type BoundPort,
  type BindingTable,
  type WeightedBackend,
  isGatewayGroup,
} from '@causeway/routing';
import { kumaFilters, kumaMatches, matchesAll } from './mesh-http-rule';

/** One route in Kuma's form, or the reason why Kuma cannot express it. */
export type KumaRoute =
  { readonly ok: true; readonly spec: JsonObject } | { readonly ok: false; readonly reason: string };

/** The labels by which zones of Kuma select a port of exactly one service, or the reason why there are none. */
export type KumaService =
  { readonly ok: true; readonly labels: Labels } | { readonly ok: false; readonly reason: string };

/** Finds the labels of a service for zones of Kuma; a backend must be known in each of these zones. */
export type KumaServices = (id: Identity, port: number, role: 'parent' | 'backend') => KumaService;

/** Maximum number of ports of parents in one resource: each repeats all rules. */
const MAX_PLACES = 64;
/** Maximum size of a spec, in characters of JSON: a zone of Kuma gets all resources of a kind in one message. */
const MAX_SPEC_LENGTH = 256 * 1024;

class Inexact extends Error {}

/**
 * Returns the spec of the MeshHTTPRoute of Kuma 2.14 with the effect of the route, for every request of every proxy; undefined if the route is not
 * bound (docs/reference/route-status.md, Zones of Kuma). Reads bindings, and only the bound rules. Linear in places × rules × backends.
 */
export function meshHttpRoute(
  table: BindingTable,
  route: CompiledRoute,
  services: KumaServices,
): KumaRoute | undefined {
  const { bound, lost } = listRouteBindings(table, route);
  const places = bound.filter(({ binding }) => !isGatewayGroup(binding.group));
  if (places.length === 0) return undefined;
  try {
    if (route.kind !== 'HTTPRoute') throw new Inexact(`a ${route.kind} is not translated`);
    const [taken] = lost;
    if (taken) throw new Inexact(`port ${taken.port} is taken by a ${taken.winner}`);
    if (places.length > MAX_PLACES) throw new Inexact(`it is bound to more than ${MAX_PLACES} ports`);
    const spec = { targetRef: { kind: 'Mesh' }, to: places.map((place) => toEntry(table, route, place, services)) };
    const size = JSON.stringify(spec).length;
    if (size > MAX_SPEC_LENGTH) throw new Inexact(`it would have ${size} characters, ${MAX_SPEC_LENGTH} at most`);
    return { ok: true, spec };
  } catch (error) {
    if (error instanceof Inexact) return { ok: false, reason: error.message };
    throw error;
  }
}

/** Returns the rules at one port of one service. */
function toEntry(table: BindingTable, route: CompiledRoute, place: BoundPort, services: KumaServices): JsonObject {
  const { frontend, binding } = place;
  const { port } = binding;
  refuseOthers(table, place);
  const found = services(frontend.id, port, 'parent');
  if (!found.ok) throw new Inexact(found.reason);
  const sectionName = frontend.ports.find((one) => one.port === port)?.name ?? String(port);
  const rules = new Map<string, JsonObject>();
  for (const rule of route.rules) {
    const matches = translated(rule, kumaMatches(rule));
    // Of two rules with equal matches the first wins; Kuma would merge them.
    const key = JSON.stringify(matches);
    if (!rules.has(key)) rules.set(key, { matches, default: ruleDefault(table, binding, { route, rule }, services) });
  }
  if (!route.rules.some(matchesAll)) {
    throw new Inexact('no rule matches all requests, and Kuma sends the rest to the service in place of answering 404');
  }
  const targetRef = { kind: frontend.id.kind, labels: found.labels, sectionName };
  return { targetRef, rules: [...rules.values()] };
}

/** Kuma merges all routes of a service, by their names, and has no routes for the callers of a namespace. */
function refuseOthers(table: BindingTable, { frontend, binding: { port, group, routes }, sameNamed }: BoundPort): void {
  const where = `${frontend.id.kind} ${frontend.id.name} port ${port}`;
  if (group !== PRODUCER) throw new Inexact(`at ${where} it applies to ${group.replace(':', ' namespace ')} only`);
  if (sameNamed > 1 || (frontend.id.kind === 'MeshService' && frontend.id.zone === '')) {
    throw new Inexact(`several services may be called ${frontend.id.name}: each zone takes its own first`);
  }
  if (routes.filter(isOfGlobal).length > 1) throw new Inexact(`other routes are bound to ${where}`);
  const consumers = table.listGroups(frontend).filter((other) => other !== PRODUCER);
  for (const other of consumers) {
    const bindings = [...table.group(frontend, other).bindings.values()];
    if (bindings.some((one) => one.port === port && one.kind !== 'UDPRoute' && one.routes.some(isOfGlobal)))
      throw new Inexact(`${other.replace(':', ' namespace ')} has other routes to ${where}`);
  }
}

/** Routes of other zones apply there only. */
const isOfGlobal = ({ id }: CompiledRoute): boolean => id.zone === '';

interface RuleOfRoute {
  readonly route: CompiledRoute;
  readonly rule: CompiledRule;
}

function ruleDefault(
  table: BindingTable,
  binding: Binding,
  { route, rule }: RuleOfRoute,
  services: KumaServices,
): JsonObject {
  const action = ruleAction(table, binding, route, rule);
  if (action.type === 'refused') throw new Inexact(`rule ${rule.name} answers 500: ${action.reason}`);
  if (action.type === 'redirect') throw new Inexact(`rule ${rule.name} redirects`);
  if (action.requestTimeout !== undefined || action.backendTimeout !== undefined) {
    throw new Inexact(`rule ${rule.name} has timeouts, which Kuma has in another kind`);
  }
  const filters = translated(rule, kumaFilters(action.filters));
  const refs = new Map<string, { readonly ref: JsonObject; weight: number }>();
  for (const backend of action.backends) {
    const ref = backendRef(rule, backend, services);
    const key = JSON.stringify(ref);
    const known = refs.get(key);
    if (known) known.weight += backend.weight;
    else refs.set(key, { ref, weight: backend.weight });
  }
  const backendRefs = [...refs.values()].map(({ ref, weight }) => ({ ...ref, weight }));
  return { ...(filters.length > 0 && { filters }), backendRefs };
}

function backendRef(rule: CompiledRule, { to, filters }: WeightedBackend, services: KumaServices): JsonObject {
  if (filters.length > 0) throw new Inexact(`rule ${rule.name} has filters of one backend`);
  if (!to.ok) throw new Inexact(`a share of rule ${rule.name} answers 500: ${to.reason}`);
  const [id, ...others] = to.destination.services;
  const { port } = to.destination;
  if (!id || others.length > 0 || (id.kind === 'MeshService' && id.zone === '')) {
    throw new Inexact(`rule ${rule.name} sends to several services of one name: name a MeshMultiZoneService`);
  }
  const found = services(id, port, 'backend');
  if (!found.ok) throw new Inexact(found.reason);
  return { kind: id.kind, labels: found.labels, port };
}

function translated<T>(rule: CompiledRule, part: { readonly value: T } | { readonly reason: string }): T {
  if ('value' in part) return part.value;
  throw new Inexact(`rule ${rule.name} has ${part.reason}`);
}
