import { bareGroup, identityKey, namespaceLabels, selectsLabels, type Identity } from '@causeway/resources';
import { serviceFrontend, type Frontend, type BindingTable, type Service } from '@causeway/routing';
import type { PolicyDefinition } from '../model/definition';
import type { Policy, TargetRef } from '../model/policy';
import { frontendNode, meshNode, namespaceNode, routeNode, virtualNode, type FrontendLevel, type Node } from './nodes';
import { Objects, formatPlace, type KnownObject } from './objects';

/** Index of objects that references of policies can target. */
export class TargetIndex {
  readonly objects = new Objects();
  /** External services, which routing does not know: backends only. */
  private readonly external = new Map<string, Frontend>();

  constructor(readonly routes: BindingTable) {}

  /** Returns a service or a Gateway. */
  frontend(id: Identity): Frontend | undefined {
    return this.routes.frontend(id) ?? this.external.get(identityKey(id));
  }

  /** Yields all services and Gateways. */
  *frontends(): Generator<Frontend> {
    yield* this.routes.frontends();
    yield* this.external.values();
  }

  /** Returns whether references by name find it: another service of the same name may shadow it. */
  isVisible(frontend: Frontend): boolean {
    return this.external.has(frontend.key) || this.routes.isVisible(frontend);
  }

  /** Stores or removes an external service. */
  setExternal(id: Identity, service: Service | undefined): void {
    if (service) this.external.set(identityKey(id), serviceFrontend(service));
    else this.external.delete(identityKey(id));
  }
}

/** Returns the place where a reference looks; undefined for virtual kinds, which have no place. */
export function watchedPlace(
  ref: TargetRef,
  policy: Policy,
): { readonly place: string; readonly name?: string } | undefined {
  const { level, kind, namespace, name } = ref;
  if (level === undefined) return undefined;
  if (level === 'Mesh') return { place: formatPlace('Mesh', '', ''), name: policy.id.mesh };
  if (level === 'Namespace') return { place: formatPlace('Namespace', '', ''), name: policy.id.namespace };
  return { place: formatPlace(kind, policy.id.mesh, namespace), ...(name !== undefined && { name }) };
}

/**
 * Returns nodes that a reference finds besides stored objects: the policy's own Mesh and Namespace, and virtual
 * objects.
 */
export function unstoredNodes(ref: TargetRef, policy: Policy, { objects }: TargetIndex): Node[] {
  const { mesh, namespace } = policy.id;
  const { level, selector } = ref;
  if (level === 'Mesh') {
    return !selector || selectsLabels(selector, objects.getLabels('Mesh', mesh)) ? [meshNode(mesh)] : [];
  }
  if (level === 'Namespace') {
    const labels = { ...namespaceLabels(namespace), ...objects.getLabels('Namespace', namespace) };
    return !selector || selectsLabels(selector, labels) ? [namespaceNode(mesh, namespace)] : [];
  }
  if (level !== undefined || ref.name === undefined) return [];
  return [virtualNode(mesh, ref.namespace, ref.group, { kind: ref.kind, name: ref.name })];
}

/**
 * Returns the nodes of an object that a reference targets; none if it selects other objects, if another zone's object
 * has the name, or if there is no such section.
 */
export function resolveNodes(ref: TargetRef, object: KnownObject, targetIndex: TargetIndex): Node[] {
  const { level, selector, sectionName } = ref;
  if (selector && !selectsLabels(selector, object.labels)) return [];
  switch (level) {
    case 'Gateway':
    case 'Listener':
    case 'Service':
    case 'ServicePort':
    case 'Backend':
    case 'BackendPort':
      return frontendNodes(level, object, sectionName, targetIndex);
    case 'Route':
    case 'Rule': {
      const route = targetIndex.routes.route(object.key);
      if (!route) return [];
      if (sectionName === undefined) return [routeNode(level, route)];
      return route.rules.some(({ name }) => name === sectionName) ? [routeNode(level, route, sectionName)] : [];
    }
    default:
      return [];
  }
}

function frontendNodes(
  level: FrontendLevel,
  { id }: KnownObject,
  section: string | undefined,
  targetIndex: TargetIndex,
): Node[] {
  const frontend = targetIndex.frontend(id);
  if (!frontend || !targetIndex.isVisible(frontend)) return [];
  if (section === undefined) return [frontendNode(level, frontend)];
  return frontend.ports.flatMap(({ name, port }) => {
    // A listener by its name, a port by its name or number.
    if (level === 'Listener') return name === section ? [frontendNode(level, frontend, name)] : [];
    return name === section || String(port) === section ? [frontendNode(level, frontend, port)] : [];
  });
}

/** Returns whether a grant permits policies of this kind and namespace to target the object (T004-09). */
export function isGranted(
  { group, bareKind, declared }: PolicyDefinition,
  ref: TargetRef,
  policy: Policy,
  { routes }: TargetIndex,
): boolean {
  const kinds = ref.kind === 'MeshService' ? ['MeshService', 'Service'] : [ref.kind];
  const groups = declared.get(ref.kind)?.groups ?? [ref.group];
  for (const { from, to } of routes.grantsIn(policy.id.mesh, ref.namespace)) {
    const here = from.some(
      (source) => source.group === group && source.kind === bareKind && source.namespace === policy.id.namespace,
    );
    const there = to.some(
      (end) =>
        kinds.includes(end.kind) &&
        groups.includes(bareGroup(end.group)) &&
        (end.name === undefined || end.name === ref.name),
    );
    if (here && there) return true;
  }
  return false;
}
