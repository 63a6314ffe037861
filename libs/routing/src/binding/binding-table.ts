import { type FrontendGroup, consumerGroup, isGatewayGroup, PRODUCER, gatewayGroup } from './frontend-group';
import {
  ChangeCollector,
  deleteFrom,
  getOrInsert,
  type Identity,
  identityKey,
  type Labels,
  namespaceLabels,
  type ResourceKey,
} from '@causeway/resources';
import type { AllowedRoutes, Gateway, ObjectRef, ReferenceGrant, Route, Service } from '../model';
import { compileRoute, type CompiledRoute } from '../rules/compiled-route';
import { AttachedGroup, readLinks, type RouteReferences } from './attachments';
import { resolveBackend, type ResolvedBackend } from './backend';
import { bindGroup, portKey, type Binding, type GroupBinding, type Transport } from './binding';
import type { Frontend } from './frontend';
import { formatBindingKey, ChangeSetBuilder, type ChangeSet } from './change-set';
import { Targets } from './targets';

const NO_ROUTE_CHANGES: ChangeSet = { groups: [], routes: [], frontends: [] };

/** Client that sends requests: a Dataplane of a namespace, or a Gateway (`namespace/name`). */
export type Client = { readonly namespace: string } | { readonly gateway: string };

/**
 * Bindings of all routes of a control plane. Incremental: a change marks the affected groups, and a group is bound when
 * it is read. The state depends only on the current resources, never on their order of arrival. Names are resolved as
 * in `zone`; empty means the global.
 */
export class BindingTable {
  private readonly targets: Targets;
  private readonly routes = new Map<string, { readonly route: CompiledRoute; readonly links: RouteReferences }>();
  /** The routes that name a target as parent, by target and group. */
  private readonly attached = new Map<string, Map<FrontendGroup, AttachedGroup>>();
  /** The routes that name a target as backend, by target. */
  private readonly senders = new Map<string, Set<ResourceKey>>();
  private readonly byNamespace = new Map<string, Set<ResourceKey>>();
  private readonly bound = new Map<string, GroupBinding>();
  private readonly namespaces = new Map<string, Labels>();
  private readonly meshes = new Map<string, AllowedRoutes>();
  private readonly grants = new Map<string, Map<string, ReferenceGrant>>();

  private readonly changes = new ChangeCollector(() => new ChangeSetBuilder(), NO_ROUTE_CHANGES);

  constructor({ zone }: { readonly zone: string }) {
    this.targets = new Targets(zone);
  }

  /** Applies several changes as one: linear in everything they affect. Nothing may be read before it returns. */
  batch(changes: () => void): ChangeSet {
    return this.change(changes);
  }

  /** Like `batch`, before the first read: affected bindings are not looked up. */
  fill(changes: () => void): void {
    this.changes.collect(changes, () => NO_ROUTE_CHANGES);
    this.bound.clear();
  }

  /** Adds or replaces a route. Throws for resources of other kinds. */
  putRoute(input: Route): ChangeSet {
    const route = compileRoute(input);
    return this.change((changeSet) => {
      this.forget(route.key, changeSet);
      const links = readLinks(route);
      this.routes.set(route.key, { route, links });
      for (const { target, group, at } of links.parents.values()) {
        const groups = getOrInsert(this.attached, target, () => new Map<FrontendGroup, AttachedGroup>());
        getOrInsert(groups, group, () => new AttachedGroup()).put(at);
      }
      for (const target of links.backends)
        getOrInsert(this.senders, target, () => new Set<ResourceKey>()).add(route.key);
      getOrInsert(this.byNamespace, route.id.namespace, () => new Set<ResourceKey>()).add(route.key);
      this.markRoute(route.key, changeSet);
    });
  }

  removeRoute(id: Identity): ChangeSet {
    return this.change((changeSet) => this.forget(identityKey(id), changeSet));
  }

  putService(service: Service): ChangeSet {
    return this.changeTargets(() => this.targets.putService(service), service.id);
  }

  putGateway(gateway: Gateway): ChangeSet {
    return this.changeTargets(() => this.targets.putGateway(gateway), gateway.id);
  }

  /** Removes a service or a Gateway. */
  removeTarget(id: Identity): ChangeSet {
    return this.changeTargets(() => this.targets.remove(id), id);
  }

  /** Sets the labels of a Namespace, for rules that select namespaces; undefined removes them. */
  setNamespace(name: string, labels: Labels | undefined): ChangeSet {
    if (labels) this.namespaces.set(name, labels);
    else this.namespaces.delete(name);
    return this.change((changeSet) => {
      for (const key of this.byNamespace.get(name) ?? []) this.markRoute(key, changeSet);
    });
  }

  /** Sets the rule for routes from the mesh's parameters; undefined allows all (T002-02). */
  setAllowedRoutes(mesh: string, rule: AllowedRoutes | undefined): ChangeSet {
    if (rule) this.meshes.set(mesh, rule);
    else this.meshes.delete(mesh);
    return this.change((changeSet) => changeSet.addMesh(mesh, 'all'));
  }

  /** Adds or replaces a grant; removes it if `grant` is undefined. */
  setGrant(id: Identity, grant: ReferenceGrant | undefined): ChangeSet {
    const place = `${id.mesh}/${id.namespace}`;
    const grants = this.grants.get(place) ?? new Map<string, ReferenceGrant>();
    if (grant) this.grants.set(place, grants.set(identityKey(id), grant));
    else if (grants.delete(identityKey(id)) && grants.size === 0) this.grants.delete(place);
    return this.change((changeSet) => changeSet.addMesh(id.mesh, 'gateways'));
  }

  route(key: string): CompiledRoute | undefined {
    return this.routes.get(key)?.route;
  }

  frontend(id: Identity): Frontend | undefined {
    return this.targets.get(identityKey(id));
  }

  /** Returns the frontends in this zone that a parentRef's target names. */
  listFrontends(target: string): readonly Frontend[] {
    return this.targets.visible(target);
  }

  /** Returns all services and Gateways, shadowed ones included. */
  frontends(): Iterable<Frontend> {
    return this.targets.all();
  }

  /** Whether this frontend is visible by its name in this zone: no other one shadows it. */
  isVisible({ key, id }: Frontend): boolean {
    const target = this.targets.findTarget(key);
    const now = this.frontend(id);
    return target !== undefined && now !== undefined && this.targets.isVisible(target, now);
  }

  /** Returns the routes that name this service as a backend. */
  *listSenders({ key }: Frontend): Generator<CompiledRoute> {
    for (const sender of this.senders.get(this.targets.findTarget(key) ?? '') ?? []) {
      const route = this.route(sender);
      if (route) yield route;
    }
  }

  /** Returns the grants of a namespace. */
  grantsIn(mesh: string, namespace: string): Iterable<ReferenceGrant> {
    return this.grants.get(`${mesh}/${namespace}`)?.values() ?? [];
  }

  /** Returns the groups in which routes name this frontend, in order; a group may have no accepted route. */
  listGroups({ key }: Frontend): readonly FrontendGroup[] {
    return [...(this.attached.get(this.targets.findTarget(key) ?? '')?.keys() ?? [])].sort();
  }

  /** Returns the bindings of a frontend in one group. */
  group(frontend: Frontend, group: FrontendGroup): GroupBinding {
    const target = this.targets.findTarget(frontend.key) ?? '';
    const attachments = this.attached.get(target)?.get(group);
    if (!attachments || !this.targets.isVisible(target, frontend)) return NOTHING_BOUND;
    return getOrInsert(this.bound, formatBindingKey(frontend.key, group), () =>
      bindGroup(frontend, group, attachments.values(), {
        allowedRoutes: this.meshes.get(frontend.id.mesh),
        getLabels: (namespace) => ({ ...namespaceLabels(namespace), ...this.namespaces.get(namespace) }),
      }),
    );
  }

  /**
   * Returns the binding that applies to this client; undefined if the implicit route does. The consumer's group applies
   * if it has an accepted route at this port, else the producer's; there is no fall-through (T002-40, T002-42).
   */
  bindingFor(client: Client, frontend: Frontend, port: number, transport: Transport): Binding | undefined {
    const key = portKey(transport, port);
    if ('gateway' in client) return this.group(frontend, gatewayGroup(client.gateway)).bindings.get(key);
    const consumer =
      client.namespace === frontend.namespace
        ? undefined
        : this.group(frontend, consumerGroup(client.namespace)).bindings.get(key);
    return consumer ?? this.group(frontend, PRODUCER).bindings.get(key);
  }

  /** Resolves a reference of a route at a frontend's port, in a group. */
  backend(route: CompiledRoute, ref: ObjectRef, port: number, group: FrontendGroup): ResolvedBackend {
    const grants = (mesh: string, namespace: string): Iterable<ReferenceGrant> => this.grantsIn(mesh, namespace);
    const place = { port, gateway: isGatewayGroup(group) };
    return resolveBackend(route, ref, place, { targets: this.targets, grants });
  }

  private change(work: (changeSet: ChangeSetBuilder) => void): ChangeSet {
    return this.changes.collect(work, (changeSet) => this.buildChangeSet(changeSet));
  }

  private forget(key: ResourceKey, changeSet: ChangeSetBuilder): void {
    const known = this.routes.get(key);
    if (!known) return;
    this.markRoute(key, changeSet);
    for (const { target, group } of known.links.parents.values()) {
      const groups = this.attached.get(target);
      groups?.get(group)?.remove(key);
      if (groups?.get(group)?.size === 0) groups.delete(group);
      if (groups?.size === 0) this.attached.delete(target);
    }
    for (const target of known.links.backends) deleteFrom(this.senders, target, key);
    deleteFrom(this.byNamespace, known.route.id.namespace, key);
    this.routes.delete(key);
  }

  private changeTargets(apply: () => readonly string[], id: Identity): ChangeSet {
    const key = identityKey(id);
    return this.change((changeSet) => {
      const before = this.targets.findTarget(key);
      changeSet.frontends.add(key);
      for (const target of new Set([...(before === undefined ? [] : [before]), ...apply()])) {
        for (const sameNamed of this.targets.named(target)) changeSet.frontends.add(sameNamed.key);
        for (const group of this.attached.get(target)?.keys() ?? []) {
          changeSet.addGroup(key, group);
          changeSet.addTarget(target, group, true);
        }
        for (const sender of this.senders.get(target) ?? []) this.markRoute(sender, changeSet);
      }
    });
  }

  /** Marks a route, its groups, and the other routes there whose status depends on it. */
  private markRoute(key: ResourceKey, changeSet: ChangeSetBuilder): void {
    changeSet.routes.add(key);
    for (const { target, group } of this.routes.get(key)?.links.parents.values() ?? []) {
      changeSet.addTarget(target, group, this.attached.get(target)?.get(group)?.competes ?? false);
    }
  }

  /** Looks up everything that is marked. A removed route has no status. */
  private buildChangeSet(changeSet: ChangeSetBuilder): ChangeSet {
    if (changeSet.meshes.size > 0) this.markMeshes(changeSet);
    const { groups, routes, targets, frontends } = changeSet;
    for (const [target, ofTarget] of targets) {
      for (const [group, withRoutes] of ofTarget) {
        for (const { key } of this.targets.named(target)) changeSet.addGroup(key, group);
        if (withRoutes) for (const key of this.attached.get(target)?.get(group)?.keys() ?? []) routes.add(key);
      }
    }
    for (const key of groups.keys()) this.bound.delete(key);
    return {
      groups: [...groups.values()],
      routes: [...routes].filter((key) => this.routes.has(key)),
      frontends: [...frontends],
    };
  }

  private markMeshes(changeSet: ChangeSetBuilder): void {
    for (const { route, links } of this.routes.values()) {
      const which = changeSet.meshes.get(route.id.mesh);
      const isAffected = which === 'all' || (which === 'gateways' && isBoundToGateway(links));
      if (isAffected) this.markRoute(route.key, changeSet);
    }
  }
}

const NOTHING_BOUND: GroupBinding = { bindings: new Map(), results: new Map() };

const isBoundToGateway = ({ parents }: RouteReferences): boolean =>
  [...parents.values()].some(({ group }) => isGatewayGroup(group));
