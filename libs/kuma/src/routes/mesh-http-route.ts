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

/** One route in Kuma's form, or why Kuma cannot express it. */
export type KumaRoute =
  { readonly ok: true; readonly spec: JsonObject } | { readonly ok: false; readonly reason: string };

/** How zones of Kuma find a port of a service: by labels that it alone has, or why they do not. */
export type KumaService =
  { readonly ok: true; readonly labels: Labels } | { readonly ok: false; readonly reason: string };

/** Finds services as zones of Kuma do; as a backend it must be known in each of them. */
export type KumaServices = (id: Identity, port: number, role: 'parent' | 'backend') => KumaService;

/** Most ports of parents in one resource: each repeats all rules. */
const MAX_PLACES = 64;
/** Largest spec, in characters of JSON: a zone of Kuma gets all of a kind in one message. */
const MAX_SPEC_LENGTH = 256 * 1024;

class Inexact extends Error {}

/**
 * The spec of the MeshHTTPRoute of Kuma 2.14 that does what the route does, to every request of every proxy; undefined where the route
 * is bound nowhere (docs/reference/route-status.md, Zones of Kuma). It reads bindings, and of rules only what is bound. Linear in places ×
 * rules × backends.
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

/** The rules at one port of one service. */
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
    // Of two rules that match the same the first decides; Kuma would make one of both.
    const key = JSON.stringify(matches);
    if (!rules.has(key)) rules.set(key, { matches, default: ruleDefault(table, binding, { route, rule }, services) });
  }
  if (!route.rules.some(matchesAll)) {
    throw new Inexact('no rule matches all requests, and Kuma sends the rest to the service in place of answering 404');
  }
  const targetRef = { kind: frontend.id.kind, labels: found.labels, sectionName };
  return { targetRef, rules: [...rules.values()] };
}

/** Kuma merges all routes to a service, by their names, and knows no callers of a namespace. */
function refuseOthers(table: BindingTable, { frontend, binding: { port, group, routes }, sameNamed }: BoundPort): void {
  const where = `${frontend.id.kind} ${frontend.id.name} port ${port}`;
  if (group !== PRODUCER) throw new Inexact(`at ${where} it is for ${group.replace(':', ' namespace ')} alone`);
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

/** Routes of other zones hold there alone. */
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
    throw new Inexact(`rule ${rule.name} has timeouts, which Kuma keeps elsewhere`);
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
