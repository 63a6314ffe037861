import { readBinding } from '@causeway/appmesh';
import { asDataplane } from '@causeway/dataplanes';
import type { Dataplane } from '@causeway/kinds';
import { hasEffectiveLabels, isGeneratedFrom, type Resource, type SpecOf } from '@causeway/resources';
import type { Destination } from '../model/destination';
import { NO_READS, type Reads } from '../reads/recorded-reads';
import type { DestinationChange } from '../model/model-change';

type Networking = SpecOf<typeof Dataplane>['networking'];
type ReachableSettings = NonNullable<NonNullable<Networking['transparentProxying']>['reachableBackends']>;
/** A service, or one port of it, that a Dataplane declares as a backend: by kind, and by name or labels. */
export type BackendRef = NonNullable<ReachableSettings['refs']>[number];

/** The backends that a Dataplane declares. */
export interface DeclaredBackends {
  /** The listed backends: those of the Dataplane itself, else those of its VirtualNode. */
  readonly refs: readonly BackendRef[];
  /** Whether the Dataplane itself lists them: with the captures `bind` and `translate` it then gets no other service. */
  readonly isOwn: boolean;
  /** For a Dataplane of a VirtualNode: the node's backends, by `namespace/name`. Other services from App Mesh are excluded. */
  readonly ofNode?: ReadonlyMap<string, BackendRef>;
}

/**
 * Returns the services that a Dataplane declares to use; undefined where nothing declares any, empty where it uses none. A Dataplane of a VirtualNode
 * can use, of the services from App Mesh, only the node's backends (T003-35); it may list fewer of these, and any service that is not from App Mesh.
 */
export function declaredBackends(dataplane: Resource | undefined): DeclaredBackends | undefined {
  const reachable = asDataplane(dataplane)?.spec.networking.transparentProxying?.reachableBackends;
  const ofNode = dataplane && nodeBackends(dataplane);
  if (!reachable && !ofNode) return undefined;
  const refs = reachable ? (reachable.refs ?? []) : [...(ofNode?.values() ?? [])];
  return { refs, isOwn: reachable !== undefined, ...(ofNode && { ofNode }) };
}

const backendsOf = new WeakMap<Resource, ReadonlyMap<string, BackendRef>>();

/** Returns the backends of the VirtualNode of a Dataplane, by `namespace/name`; undefined where it belongs to no VirtualNode. */
function nodeBackends(dataplane: Resource): ReadonlyMap<string, BackendRef> | undefined {
  const known = backendsOf.get(dataplane);
  if (known) return known;
  const bound = readBinding(dataplane);
  if (!bound) return undefined;
  const found = new Map(
    bound.backends.map(({ namespace, name }) => [
      `${namespace}/${name}`,
      { kind: 'MeshService' as const, namespace, name },
    ]),
  );
  backendsOf.set(dataplane, found);
  return found;
}

/**
 * Reports whether a Dataplane may not call a destination: the Dataplane belongs to a VirtualNode, and the destination comes from App Mesh and is not
 * a backend of that node (T003-35). Backends that the Dataplane itself lists do not change this.
 */
export function isExcludedFrom(
  dataplane: Resource | undefined,
  { labels, service }: Pick<Destination, 'labels' | 'service'>,
): boolean {
  if (!dataplane || !isGeneratedFrom(labels)) return false;
  const backends = nodeBackends(dataplane);
  return backends !== undefined && !backends.has(`${service.namespace}/${service.name}`);
}

/** Maximum number of label sets whose services are cached: proxies of one kind share a label set. */
const MAX_SELECTORS = 4_096;

interface Selector {
  readonly mesh: string;
  readonly kind: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly found: Map<string, Destination>;
}

/** Indexes destinations by the ways in which Dataplanes refer to them. A change costs the names and label sets that it concerns. */
export class ReachableBackends {
  private readonly all = new Map<string, Destination>();
  private readonly byService = new Map<string, Map<string, Destination>>();
  private readonly selectors = new Map<string, Selector>();
  /** By mesh, the names of the destinations that come from App Mesh. */
  private readonly generated = new Map<string, Set<string>>();

  constructor(private readonly reads: Reads = NO_READS) {}

  replace({ name, before, after }: DestinationChange): void {
    const { mesh = '' } = (after ?? before)?.service ?? {};
    const had = this.generated.has(mesh);
    if (before) this.remove(name, before);
    if (after) this.add(name, after);
    if (this.generated.has(mesh) !== had) this.reads.changed(`from-app-mesh ${mesh}`);
  }

  private add(name: string, after: Destination): void {
    this.all.set(name, after);
    const { mesh } = after.service;
    if (isGeneratedFrom(after.labels))
      this.generated.set(mesh, (this.generated.get(mesh) ?? new Set<string>()).add(name));
    const key = serviceKey(after.service.mesh, after.service.kind, after.service.name);
    const ofService = this.byService.get(key) ?? new Map<string, Destination>();
    this.byService.set(key, ofService.set(name, after));
    for (const selector of this.selectors.values()) if (selects(selector, after)) selector.found.set(name, after);
  }

  /**
   * Returns the names of the destinations that the references select, each once. A name without a namespace selects that name in every namespace and
   * zone.
   */
  names(mesh: string, refs: readonly BackendRef[]): ReadonlySet<string> {
    const found = new Set<string>();
    for (const ref of refs) for (const { name } of this.matching(mesh, ref)) found.add(name);
    return found;
  }

  /** Yields the destinations that a reference selects. */
  *matching(mesh: string, ref: BackendRef): Iterable<Destination> {
    for (const destination of this.candidates(mesh, ref).values()) {
      const { port, service } = destination;
      const isInNamespace = ref.namespace === undefined || ref.namespace === service.namespace;
      if (isInNamespace && (ref.port === undefined || ref.port === port)) yield destination;
    }
  }

  /** Reports whether a mesh has destinations that come from App Mesh; recorded for the client, because its Dataplane decides what follows from it. */
  hasAppMesh(mesh: string): boolean {
    this.reads.readOwn(`from-app-mesh ${mesh}`);
    return this.generated.has(mesh);
  }

  private remove(name: string, { service }: Destination): void {
    this.all.delete(name);
    const generated = this.generated.get(service.mesh);
    if (generated?.delete(name) && generated.size === 0) this.generated.delete(service.mesh);
    const key = serviceKey(service.mesh, service.kind, service.name);
    const ofService = this.byService.get(key);
    if (ofService?.delete(name) && ofService.size === 0) this.byService.delete(key);
    for (const selector of this.selectors.values()) selector.found.delete(name);
  }

  private candidates(mesh: string, { kind, name, labels }: BackendRef): ReadonlyMap<string, Destination> {
    if (name !== undefined) return this.byService.get(serviceKey(mesh, kind, name)) ?? NONE;
    if (labels === undefined) return NONE;
    const key = JSON.stringify([mesh, kind, Object.entries(labels).sort()]);
    const known = this.selectors.get(key);
    if (known) return known.found;
    const selector: Selector = { mesh, kind, labels, found: new Map() };
    for (const [each, destination] of this.all)
      if (selects(selector, destination)) selector.found.set(each, destination);
    if (this.selectors.size >= MAX_SELECTORS) this.selectors.clear();
    this.selectors.set(key, selector);
    return selector.found;
  }
}

const NONE: ReadonlyMap<string, Destination> = new Map();

function selects({ mesh, kind, labels }: Selector, { service, labels: held }: Destination): boolean {
  return service.mesh === mesh && service.kind === kind && hasEffectiveLabels({ id: service, labels: held }, labels);
}

function serviceKey(mesh: string, kind: string, name: string): string {
  return `${mesh} ${kind} ${name}`;
}
