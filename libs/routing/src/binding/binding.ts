import type { FrontendGroup } from './frontend-group';
import type { Labels } from '@causeway/resources';
import { routeKinds, type AllowedRoutes, type ParentRef, type RouteKind } from '../model';
import { compareRanks, type CompiledMatch } from '../rules/compiled-match';
import { compareAges, type CompiledRoute, type CompiledRule } from '../rules/compiled-route';
import { allows, type Frontend, type FrontendPort, type ParentRefusal } from './frontend';

/** One match of one rule in a merged table. */
export interface Entry {
  readonly route: CompiledRoute;
  readonly rule: CompiledRule;
  readonly match: CompiledMatch;
}

const byRank = (entries: Entry[]): Entry[] => entries.sort((a, b) => compareRanks(a.match.rank, b.match.rank));

/** Sorted once per route: one route may be bound to a thousand services. */
const sortedEntries = new WeakMap<CompiledRoute, readonly Entry[]>();

function listEntries(route: CompiledRoute): readonly Entry[] {
  const known = sortedEntries.get(route);
  if (known) return known;
  const entries = route.rules.flatMap((rule) => rule.matches.map((match) => ({ route, rule, match })));
  sortedEntries.set(route, byRank(entries));
  return entries;
}

/** The merged routes of one (frontend, port, group), which decide about requests there. */
export class Binding {
  readonly port: number;
  readonly group: FrontendGroup;
  private sorted: readonly Entry[] | undefined;

  constructor(
    readonly frontend: Frontend,
    { port, group }: { readonly port: number; readonly group: FrontendGroup },
    readonly kind: RouteKind,
    /** The accepted routes of `kind`, the oldest first. Of kinds for whole connections only the first applies. */
    readonly routes: readonly CompiledRoute[],
  ) {
    this.port = port;
    this.group = group;
  }

  /** All matches of all routes by precedence, so that the first match decides. Sorted when first read. */
  get entries(): readonly Entry[] {
    const [only, ...others] = this.routes;
    // The routes are in the order of the last tie-break, and the sort is stable.
    this.sorted ??= others.length === 0 && only ? listEntries(only) : byRank(this.routes.flatMap(listEntries));
    return this.sorted;
  }
}

/** A route that names one target in one group, and the parentRefs that name it. */
export interface RouteAttachment {
  readonly route: CompiledRoute;
  readonly refs: readonly { readonly index: number; readonly ref: ParentRef }[];
}

/** Result of binding one parentRef to one frontend. */
export interface ParentRefResult {
  readonly refusal?: ParentRefusal;
  /** Ports at which the route is part of the binding. */
  readonly ports: readonly number[];
  /** Ports that another kind of route won; for an implicit route, any other route. */
  readonly lost: readonly { readonly port: number; readonly winner: RouteKind }[];
  /** Ports at which an older route of the same kind carries all traffic (TCPRoute, TLSRoute, UDPRoute). */
  readonly idle: readonly number[];
}

/** The bindings of one (frontend, group), and the result of each parentRef. */
export interface GroupBinding {
  /** By `portKey`. */
  readonly bindings: ReadonlyMap<string, Binding>;
  /** By `parentRefKey`. */
  readonly results: ReadonlyMap<string, ParentRefResult>;
}

/** Settings of the mesh about the namespaces of routes. */
export interface MeshRouteSettings {
  readonly allowedRoutes?: AllowedRoutes | undefined;
  readonly getLabels: (namespace: string) => Labels;
}

export type Transport = 'tcp' | 'udp';
export const portKey = (transport: Transport, port: number): string => `${transport}/${port}`;
export const parentRefKey = (route: CompiledRoute, ref: number): string => `${route.key}#${ref}`;
const getTransport = (kind: RouteKind): Transport => (kind === 'UDPRoute' ? 'udp' : 'tcp');

interface BindingCandidate {
  readonly route: CompiledRoute;
  readonly index: number;
  readonly port: FrontendPort;
}

/**
 * Binds all routes of one group to one frontend: checks each route, then chooses port by port the strongest kind (T002-24), or an implicit
 * route if there is no other. A route that is not accepted does not compete (T002-42). Linear in routes × ports, except for sorting by age.
 */
export function bindGroup(
  frontend: Frontend,
  group: FrontendGroup,
  attachments: Iterable<RouteAttachment>,
  mesh: MeshRouteSettings,
): GroupBinding {
  const results = new Map<string, ParentRefResult>();
  const byPort = new Map<string, BindingCandidate[]>();
  for (const { route, refs } of attachments) {
    for (const { index, ref } of refs) {
      const checked = checkParentRef(route, ref, frontend, mesh);
      const refusal = 'reason' in checked ? checked : undefined;
      results.set(parentRefKey(route, index), { ports: [], lost: [], idle: [], ...(refusal ? { refusal } : {}) });
      if ('reason' in checked) continue;
      for (const port of checked.ports) {
        const key = portKey(getTransport(route.kind), port.port);
        const candidates = byPort.get(key);
        if (candidates) candidates.push({ route, index, port });
        else byPort.set(key, [{ route, index, port }]);
      }
    }
  }
  const bindings = new Map<string, Binding>();
  const getCandidatePort = (candidates: readonly BindingCandidate[]): number => candidates[0]?.port.port ?? 0;
  // In the order of ports, so that results do not depend on the order of the routes.
  for (const [key, candidates] of [...byPort].sort(([, a], [, b]) => getCandidatePort(a) - getCandidatePort(b))) {
    const binding = decidePort(frontend, group, candidates, results);
    if (binding) bindings.set(key, binding);
  }
  return { bindings, results: results };
}

function decidePort(
  frontend: Frontend,
  group: FrontendGroup,
  candidates: readonly BindingCandidate[],
  results: Map<string, ParentRefResult>,
): Binding | undefined {
  const isReplaced = candidates.some(({ route }) => !route.implicit);
  const competing = isReplaced ? candidates.filter(({ route }) => !route.implicit) : candidates;
  const winner = routeKinds.find((kind) => competing.some(({ route }) => route.kind === kind));
  const [first] = candidates;
  if (!winner || !first) return undefined;
  const port = first.port.port;
  const routes = [...new Set(competing.map(({ route }) => route))]
    .filter(({ kind }) => kind === winner)
    .sort(compareAges);
  const matching = winner === 'HTTPRoute' || winner === 'GRPCRoute';
  for (const { route, index } of candidates) {
    const key = parentRefKey(route, index);
    const so = results.get(key) ?? { ports: [], lost: [], idle: [] };
    if (route.kind !== winner || (isReplaced && route.implicit))
      results.set(key, { ...so, lost: [...so.lost, { port, winner }] });
    else if (matching || route === routes[0]) results.set(key, { ...so, ports: [...so.ports, port] });
    else results.set(key, { ...so, ports: [...so.ports, port], idle: [...so.idle, port] });
  }
  return new Binding(frontend, { port, group }, winner, routes);
}

/** Returns the frontend's ports that a parentRef means, or why the route is not accepted there regardless of other routes. */
function checkParentRef(
  route: CompiledRoute,
  ref: ParentRef,
  frontend: Frontend,
  { allowedRoutes, getLabels }: MeshRouteSettings,
): ParentRefusal | { readonly ports: readonly FrontendPort[] } {
  const { id, namespace } = frontend;
  const what = `${id.kind} ${namespace}/${ref.name}`;
  if (frontend.headless) return { reason: 'NoMatchingParent', message: `${what} is headless: it has no virtual IP` };
  const labels = getLabels(route.id.namespace);
  if (allowedRoutes && !allows(allowedRoutes, namespace, route, labels)) {
    const from = `${route.kind} of namespace ${route.id.namespace}`;
    return { reason: 'NotAllowedByMesh', message: `the mesh's allowedRoutes do not let a ${from} bind to ${what}` };
  }
  if (route.rules.length === 0 && route.dropped[0]) {
    const { reason, message } = route.dropped[0];
    return { reason, message };
  }
  const meant = frontend.ports.filter(
    ({ port, name }) =>
      (ref.port === undefined || ref.port === port) && (ref.sectionName === undefined || ref.sectionName === name),
  );
  if (meant.length === 0) return { reason: 'NoMatchingParent', message: `${what} has ${missingPort(ref)}` };
  const refusals = meant.map(({ refusal }) => refusal?.(route, labels));
  const ports = meant.filter((_, i) => refusals[i] === undefined);
  const [refused] = refusals;
  return ports.length === 0 && refused ? refused : { ports };
}

function missingPort({ port, sectionName }: ParentRef): string {
  if (port === undefined && sectionName === undefined) return 'no ports';
  const number = port === undefined ? '' : ` ${port}`;
  return `no port${number}${sectionName === undefined ? '' : ` of name ${sectionName}`}`;
}
