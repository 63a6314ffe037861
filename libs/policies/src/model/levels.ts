/** The levels of the graph of targets, the least specific first (ADR 25). */
export const levels = [
  'Mesh',
  'Namespace',
  'Gateway',
  'Listener',
  'Service',
  'ServicePort',
  'Route',
  'Rule',
  'Backend',
  'BackendPort',
] as const;
export type Level = (typeof levels)[number];

/** Merge strategies; of two policies, the strategy of the less specific one applies (T004-19, T004-25). */
export const mergeStrategies = ['AtomicDefaults', 'AtomicOverrides', 'PatchDefaults', 'PatchOverrides'] as const;
export type MergeStrategy = (typeof mergeStrategies)[number];

/**
 * Strategies with which a kind may be defined. `None` merges nothing: of several policies on one object the oldest
 * applies (T004-24).
 */
export const strategies = ['None', ...mergeStrategies] as const;
export type Strategy = (typeof strategies)[number];

/** Whether policies may target objects in another namespace, and which permission that needs (T004-08, T004-09). */
export const crossNamespaceRules = ['Forbidden', 'ReferenceGrant', 'ClientSide'] as const;
export type CrossNamespace = (typeof crossNamespaceRules)[number];

/** Short names of hierarchies: all levels on a mesh's side, or on the side of Gateways. */
export const hierarchies: Readonly<Record<'mesh' | 'gateway', readonly Level[]>> = {
  mesh: levels.filter((level) => level !== 'Gateway' && level !== 'Listener'),
  gateway: levels.filter((level) => level !== 'Service' && level !== 'ServicePort'),
};

/** Returns the rank of a level; a higher number is more specific. */
export const levelRank = (level: Level): number => levels.indexOf(level);

export type Facet = 'frontend' | 'backend';

interface KnownKind {
  readonly groups: readonly string[];
  readonly level: Level;
  /** The level of its sections; undefined if it has none. */
  readonly section?: Level;
}

const GATEWAY_API = 'gateway.networking.k8s.io';
const SERVICES = ['', 'core', 'kuma.io', GATEWAY_API];
const route = { groups: ['', GATEWAY_API], level: 'Route', section: 'Rule' } satisfies KnownKind;

/** Kinds that policies can target, except services, which have two facets. `Route` is short for all kinds of routes. */
const plainKinds: ReadonlyMap<string, KnownKind> = new Map<string, KnownKind>([
  ['Mesh', { groups: ['', 'kuma.io', GATEWAY_API, 'gateway.networking.x-k8s.io', 'appmesh.k8s.aws'], level: 'Mesh' }],
  ['Namespace', { groups: ['', 'core'], level: 'Namespace' }],
  ['Gateway', { groups: ['', GATEWAY_API], level: 'Gateway', section: 'Listener' }],
  ...['Route', 'HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute', 'UDPRoute'].map((kind): [string, KnownKind] => [
    kind,
    route,
  ]),
]);

/** Services in two roles: frontends that routes bind to, backends that rules send to. External ones are backends only. */
const serviceKinds = ['MeshService', 'MeshMultiZoneService'];
const EXTERNAL = 'MeshExternalService';

/** Returns whether a kind has no namespace: such objects count as in `default`, as for routes. */
export const standsInDefault = (kind: string): boolean => kind === 'MeshMultiZoneService' || kind === EXTERNAL;

/** `Service` is another name of MeshService, as in routes. */
export const resolveTargetKind = (kind: string): string => (kind === 'Service' ? 'MeshService' : kind);

export const isServiceKind = (kind: string): boolean => serviceKinds.includes(resolveTargetKind(kind));

/** Returns the level of a kind of object; undefined for kinds outside the graph. */
export function knownKind(kind: string, facet: Facet = 'frontend'): KnownKind | undefined {
  if (kind === EXTERNAL) return { groups: ['', 'kuma.io'], level: 'Backend', section: 'BackendPort' };
  if (!isServiceKind(kind)) return plainKinds.get(kind);
  const [level, section] =
    facet === 'frontend' ? (['Service', 'ServicePort'] as const) : (['Backend', 'BackendPort'] as const);
  return { groups: kind === 'Service' ? SERVICES.filter((group) => group !== 'kuma.io') : SERVICES, level, section };
}

/** The names of all kinds that can be targets, for messages. */
export const targetKinds: readonly string[] = [...plainKinds.keys(), 'Service', ...serviceKinds, EXTERNAL];
