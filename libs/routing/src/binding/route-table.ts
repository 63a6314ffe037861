import { identityKey, type Identity, type Labels } from '@causeway/resources';
import type { AllowedRoutes, Gateway, ObjectRef, ReferenceGrant, Route, Service } from '../model';
import { compileRoute, looksIntoRequests, type CompiledRoute } from '../rules/compiled-route';
import { resolveBackend, type ResolvedBackend } from './backend';
import { bindGroup, portKey, type Attachment, type Binding, type GroupBinding, type Transport } from './binding';
import { backendTarget, groupFor, parentTarget, PRODUCER, type Frontend } from './frontend';
import { Targets } from './targets';

/** What a change may have changed: bindings of (frontend, group), and the status of routes by their keys. */
export interface Affected {
  readonly groups: readonly { readonly frontend: string; readonly group: string }[];
  readonly routes: readonly string[];
}

/** Who sends: a Dataplane of a namespace, or a Gateway (`namespace/name`). */
export type Client = { readonly namespace: string } | { readonly gateway: string };

/** A route among the targets that it names: as parent in a group, or as backend. */
interface Links {
  readonly parents: ReadonlyMap<string, { readonly target: string; readonly group: string; readonly at: Attachment }>;
  readonly backends: ReadonlySet<string>;
}

/**
 * All routes of a control plane, bound. Incremental: a change marks the groups that it touches, and a group is bound when it
 * is read. The state depends only on the current resources, never on the order in which they came. Names are resolved as
 * in `zone`; empty means the global.
 */
export class RouteTable {
  private readonly targets: Targets;
  private readonly routes = new Map<string, { readonly route: CompiledRoute; readonly links: Links }>();
  /** By target and group: the routes that name it as parent. */
  private readonly attached = new Map<string, Map<string, Map<string, Attachment>>>();
  /** By target: the routes that send to it. */
  private readonly senders = new Map<string, Set<string>>();
  private readonly byNamespace = new Map<string, Set<string>>();
  private readonly bound = new Map<string, GroupBinding>();
  private readonly namespaces = new Map<string, Labels>();
  private readonly meshes = new Map<string, AllowedRoutes>();
  private readonly grants = new Map<string, Map<string, ReferenceGrant>>();

  constructor({ zone }: { readonly zone: string }) {
    this.targets = new Targets(zone);
  }

  /** Keeps a route in place of its older version. Refuses resources of other kinds with an error. */
  putRoute(input: Route): Affected {
    const route = compileRoute(input);
    const marks = this.forget(route.key);
    const links = linksOf(route);
    this.routes.set(route.key, { route, links });
    for (const { target, group, at } of links.parents.values()) {
      const groups = entry(this.attached, target, () => new Map<string, Map<string, Attachment>>());
      entry(groups, group, () => new Map<string, Attachment>()).set(route.key, at);
    }
    for (const target of links.backends) entry(this.senders, target, () => new Set<string>()).add(route.key);
    entry(this.byNamespace, route.id.namespace, () => new Set<string>()).add(route.key);
    this.markParents(links, marks);
    marks.routes.add(route.key);
    return this.affected(marks);
  }

  removeRoute(id: Identity): Affected {
    return this.affected(this.forget(identityKey(id)));
  }

  putService(service: Service): Affected {
    return this.changeTargets(() => this.targets.putService(service), service.id);
  }

  putGateway(gateway: Gateway): Affected {
    return this.changeTargets(() => this.targets.putGateway(gateway), gateway.id);
  }

  /** Forgets a service or a Gateway. */
  removeTarget(id: Identity): Affected {
    return this.changeTargets(() => this.targets.remove(id), id);
  }

  /** The labels of a Namespace; undefined when it is gone. They matter to rules that select namespaces. */
  setNamespace(name: string, labels: Labels | undefined): Affected {
    if (labels) this.namespaces.set(name, labels);
    else this.namespaces.delete(name);
    return this.affectedRoutes(this.byNamespace.get(name) ?? []);
  }

  /** What the mesh's parameters say of routes; undefined allows all (T002-02). */
  setAllowedRoutes(mesh: string, rule: AllowedRoutes | undefined): Affected {
    if (rule) this.meshes.set(mesh, rule);
    else this.meshes.delete(mesh);
    return this.affectedRoutes(this.keysWhere(({ id }) => id.mesh === mesh));
  }

  /** Keeps a grant, or forgets it where `grant` is undefined. */
  setGrant(id: Identity, grant: ReferenceGrant | undefined): Affected {
    const grants = entry(this.grants, `${id.mesh}/${id.namespace}`, () => new Map<string, ReferenceGrant>());
    if (grant) grants.set(identityKey(id), grant);
    else grants.delete(identityKey(id));
    const isBoundToGateway = (links: Links): boolean =>
      [...links.parents.values()].some(({ group }) => group.startsWith('gateway:'));
    return this.affectedRoutes(this.keysWhere((route, links) => route.id.mesh === id.mesh && isBoundToGateway(links)));
  }

  route(key: string): CompiledRoute | undefined {
    return this.routes.get(key)?.route;
  }

  frontend(id: Identity): Frontend | undefined {
    return this.targets.get(identityKey(id));
  }

  /** What a parentRef's target finds in this zone. */
  frontendsOf(target: string): readonly Frontend[] {
    return this.targets.visible(target);
  }

  /** The groups in which routes name this frontend, in order; a group may have no accepted route. */
  groupsOf({ key }: Frontend): readonly string[] {
    return [...(this.attached.get(this.targets.targetOf(key) ?? '')?.keys() ?? [])].sort();
  }

  /** The bindings of a frontend in one group. */
  group(frontend: Frontend, group: string): GroupBinding {
    const target = this.targets.targetOf(frontend.key) ?? '';
    const attachments = this.attached.get(target)?.get(group);
    if (!attachments || !this.targets.visible(target).includes(frontend)) return NOTHING_BOUND;
    return entry(this.bound, boundKey(frontend.key, group), () =>
      bindGroup(frontend, group, attachments.values(), {
        allowedRoutes: this.meshes.get(frontend.id.mesh),
        labelsOf: (namespace) => this.namespaces.get(namespace) ?? {},
      }),
    );
  }

  /**
   * The one binding that decides for this client, or undefined: then the implicit route holds. A consumer's group if it has
   * an accepted route at this port, else the producer's; nothing falls through (T002-40, T002-42).
   */
  bindingFor(client: Client, frontend: Frontend, port: number, transport: Transport): Binding | undefined {
    const key = portKey(transport, port);
    if ('gateway' in client) return this.group(frontend, `gateway:${client.gateway}`).bindings.get(key);
    const consumer =
      client.namespace === frontend.id.namespace
        ? undefined
        : this.group(frontend, `consumer:${client.namespace}`).bindings.get(key);
    return consumer ?? this.group(frontend, PRODUCER).bindings.get(key);
  }

  /** Where a reference of a route leads at a frontend's port, in a group. */
  backend(route: CompiledRoute, ref: ObjectRef, port: number, group: string): ResolvedBackend {
    const grants = (mesh: string, namespace: string): Iterable<ReferenceGrant> =>
      this.grants.get(`${mesh}/${namespace}`)?.values() ?? [];
    const place = { port, gateway: group.startsWith('gateway:') };
    return resolveBackend(route, ref, place, { targets: this.targets, grants });
  }

  private forget(key: string): Marks {
    const marks = new Marks();
    const known = this.routes.get(key);
    if (!known) return marks;
    this.markParents(known.links, marks);
    for (const { target, group } of known.links.parents.values()) {
      const groups = this.attached.get(target);
      groups?.get(group)?.delete(key);
      if (groups?.get(group)?.size === 0) groups.delete(group);
      if (groups?.size === 0) this.attached.delete(target);
    }
    for (const target of known.links.backends) removeFrom(this.senders, target, key);
    removeFrom(this.byNamespace, known.route.id.namespace, key);
    this.routes.delete(key);
    marks.routes.delete(key);
    return marks;
  }

  private changeTargets(change: () => readonly string[], id: Identity): Affected {
    const marks = new Marks();
    const before = this.targets.targetOf(identityKey(id));
    const targets = new Set([...(before === undefined ? [] : [before]), ...change()]);
    for (const target of targets) {
      for (const group of this.attached.get(target)?.keys() ?? []) {
        marks.groups.set(boundKey(identityKey(id), group), { frontend: identityKey(id), group });
        this.markGroup(target, group, marks);
        for (const key of this.attached.get(target)?.get(group)?.keys() ?? []) marks.routes.add(key);
      }
      for (const key of this.senders.get(target) ?? []) {
        const links = this.routes.get(key)?.links;
        if (links) this.markParents(links, marks);
        marks.routes.add(key);
      }
    }
    return this.affected(marks);
  }

  /** The groups that a route is in, and the other routes there whose status depends on it: those that it competes with. */
  private markParents(links: Links, marks: Marks): void {
    for (const { target, group } of links.parents.values()) {
      this.markGroup(target, group, marks);
      const attachments = this.attached.get(target)?.get(group);
      if (!attachments || attachments.size < 2) continue;
      const kinds = new Set([...attachments.values()].map(({ route }) => route.kind));
      const [kind] = kinds;
      if (kinds.size === 1 && kind && looksIntoRequests(kind)) continue;
      for (const key of attachments.keys()) marks.routes.add(key);
    }
  }

  private markGroup(target: string, group: string, marks: Marks): void {
    for (const { key } of this.targets.named(target)) marks.groups.set(boundKey(key, group), { frontend: key, group });
  }

  private affectedRoutes(keys: Iterable<string>): Affected {
    const marks = new Marks();
    for (const key of keys) {
      const links = this.routes.get(key)?.links;
      if (links) this.markParents(links, marks);
      marks.routes.add(key);
    }
    return this.affected(marks);
  }

  private affected({ groups, routes }: Marks): Affected {
    for (const key of groups.keys()) this.bound.delete(key);
    return { groups: [...groups.values()], routes: [...routes] };
  }

  private *keysWhere(test: (route: CompiledRoute, links: Links) => boolean): Iterable<string> {
    for (const [key, { route, links }] of this.routes) if (test(route, links)) yield key;
  }
}

/** What one change touches, collected. */
class Marks {
  readonly groups = new Map<string, { readonly frontend: string; readonly group: string }>();
  readonly routes = new Set<string>();
}

const NOTHING_BOUND: GroupBinding = { bindings: new Map(), verdicts: new Map() };

const boundKey = (frontend: string, group: string): string => `${frontend} ${group}`;

function linksOf(route: CompiledRoute): Links {
  const parents = new Map<string, { target: string; group: string; at: Attachment }>();
  (route.spec.parentRefs ?? []).forEach((ref, index) => {
    const target = parentTarget(route.id, ref);
    if (!target) return;
    const before = parents.get(target.key)?.at.refs ?? [];
    const at = { route, refs: [...before, { index, ref }] };
    parents.set(target.key, { target: target.key, group: groupFor(route.id, target), at });
  });
  const backends = new Set<string>();
  for (const { backendRefs = [], filters = [] } of route.spec.rules ?? []) {
    const lists = [filters, ...backendRefs.map((backend) => backend.filters ?? [])].flat();
    const mirrors = lists.flatMap(({ requestMirror }) => (requestMirror ? [requestMirror.backendRef] : []));
    for (const ref of [...backendRefs, ...mirrors]) {
      const target = backendTarget(route.id, ref);
      if (target) backends.add(target.key);
    }
  }
  return { parents, backends };
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function removeFrom(map: Map<string, Set<string>>, key: string, value: string): void {
  const values = map.get(key);
  values?.delete(value);
  if (values?.size === 0) map.delete(key);
}
