import { type FrontendGroup, consumerGroup, PRODUCER, gatewayGroup } from './frontend-group';
import {
  bareGroup,
  frontendOfVirtualService,
  identityKey,
  selectsLabels,
  type Identity,
  type Labels,
  type ResourceKey,
} from '@causeway/resources';
import type { AllowedRoutes, Gateway, ObjectRef, ParentRef, Service } from '../model';
import { looksIntoRequests, type CompiledRoute } from '../rules/compiled-route';

/** Kinds to which references in routes can resolve; `Service` finds MeshServices. */
export type TargetKind = 'MeshService' | 'MeshMultiZoneService' | 'Gateway';

/** Namespace assumed for a service of a kind without namespaces: routes of this namespace are its producer's (ADR 27). */
export const NO_NAMESPACE = 'default';

/** Target of a reference that may not exist: a key of kind, mesh, namespace and display name. */
export interface ParentTarget {
  readonly key: string;
  readonly kind: TargetKind;
  readonly namespace: string;
  readonly name: string;
}

/** Groups that references to `Service` and the kinds of services may have; a version after a slash is ignored (T002-09). */
const serviceGroups = ['', 'core', 'gateway.networking.k8s.io', 'kuma.io'];
export const GATEWAY_GROUP = 'gateway.networking.k8s.io';

const findGroup = ({ group }: { readonly group?: string }): string | undefined =>
  group === undefined ? undefined : bareGroup(group);

/** Routes that name a VirtualService bind to its generated MeshService. */
const isVirtualService = (ref: GroupKind): boolean =>
  ref.kind === 'VirtualService' && findGroup(ref) === 'appmesh.k8s.aws';

/** The fields of a reference that determine the kind of its target. */
export type GroupKind = Pick<ObjectRef, 'group' | 'kind'>;

/** Returns the kind of a reference's target by group and kind; undefined for kinds of other projects. */
export function targetKind(ref: GroupKind, preset: string): TargetKind | undefined {
  const group = findGroup(ref) ?? '';
  const kind = ref.kind ?? preset;
  if (isVirtualService(ref)) return 'MeshService';
  if (kind === 'Gateway') return group === '' || group === GATEWAY_GROUP ? 'Gateway' : undefined;
  if (!serviceGroups.includes(group)) return undefined;
  if (kind === 'Service') return group === 'kuma.io' ? undefined : 'MeshService';
  return kind === 'MeshService' || kind === 'MeshMultiZoneService' ? kind : undefined;
}

/** Returns the problem of the group and kind of a reference; undefined if routes can bind or send to them. */
export function findReferenceProblem(ref: GroupKind, role: 'parent' | 'backend'): string | undefined {
  const preset = role === 'parent' ? 'Gateway' : 'Service';
  const kind = targetKind(ref, preset);
  if (kind !== undefined && (role === 'parent' || (kind !== 'Gateway' && !isVirtualService(ref)))) return undefined;
  const groups = serviceGroups.map((group) => `"${group}"`).join(', ');
  const meant =
    role === 'parent'
      ? `Gateway of "${GATEWAY_GROUP}", or a kind of service of ${groups}`
      : `Service, MeshService, MeshMultiZoneService of ${groups}`;
  return `${ref.kind ?? preset} of the group "${ref.group ?? ''}" is no kind that routes ${role === 'parent' ? 'bind' : 'send'} to: ${meant}`;
}

/** Returns the key that finds services and Gateways of one mesh, namespace and display name. */
export function targetKey(kind: TargetKind, mesh: string, namespace: string, name: string): string {
  return `${kind}/${mesh}/${namespace}/${name}`;
}

function target(route: Identity, ref: ObjectRef, preset: string): ParentTarget | undefined {
  const kind = targetKind(ref, preset);
  if (!kind) return undefined;
  const namespace = kind === 'MeshMultiZoneService' ? NO_NAMESPACE : ref.namespace || route.namespace;
  const name = isVirtualService(ref) ? frontendOfVirtualService(ref.name) : ref.name;
  return { key: targetKey(kind, route.mesh, namespace, name), kind, namespace, name };
}

/**
 * Returns the target of a parentRef; undefined for kinds that no route binds to (T002-16, T002-20). A Gateway unless
 * `kind` says otherwise.
 */
export const parentTarget = (route: Identity, ref: ParentRef): ParentTarget | undefined =>
  target(route, ref, 'Gateway');

/**
 * Returns the target of a backendRef; undefined for kinds that cannot receive requests. A Service unless `kind` says
 * otherwise.
 */
export function backendTarget(route: Identity, ref: ObjectRef): ParentTarget | undefined {
  const found = target(route, ref, 'Service');
  return found?.kind === 'Gateway' || isVirtualService(ref) ? undefined : found;
}

/** Returns the group of clients to which a route applies (GEP-1426, Namespace boundaries). */
export function selectGroup(route: Identity, { kind, namespace, name }: ParentTarget): FrontendGroup {
  if (kind === 'Gateway') return gatewayGroup(`${namespace}/${name}`);
  return namespace === route.namespace ? PRODUCER : consumerGroup(route.namespace);
}

export interface FrontendPort {
  readonly port: number;
  /** Name of the port, or its number if it has no name (T002-22). */
  readonly name: string;
  /** Returns why this listener refuses a route; undefined if it accepts it. Services accept all. */
  readonly refusal?: (route: CompiledRoute, namespace: Labels) => ParentRefusal | undefined;
}

/** Reason why a parent does not accept a route. */
export interface ParentRefusal {
  readonly reason: string;
  readonly message: string;
}

/** Parent of routes: a service, or a Gateway with its listeners. */
export interface Frontend {
  readonly key: ResourceKey;
  readonly id: Identity;
  /** Namespace whose routes are the producer's. */
  readonly namespace: string;
  readonly ports: readonly FrontendPort[];
  readonly headless: boolean;
}

/** Returns the frontend of a service. */
export function serviceFrontend({ id, ports, headless }: Service): Frontend {
  const named = ports.map(({ port, name }) => ({ port, name: name ?? String(port) }));
  return { key: identityKey(id), id, namespace: id.namespace || NO_NAMESPACE, ports: named, headless };
}

/** Returns the frontend of a Gateway: one port for each listener. */
export function gatewayFrontend({ id, listeners }: Gateway): Frontend {
  const ports = listeners.map((listener): FrontendPort => {
    const { port, name } = listener;
    return { port, name, refusal: (route, namespace) => listenerRefusal(listener, id, route, namespace) };
  });
  return { key: identityKey(id), id, namespace: id.namespace, ports, headless: false };
}

function listenerRefusal(
  { name, protocol, hostname, allowedRoutes }: Gateway['listeners'][number],
  gateway: Identity,
  route: CompiledRoute,
  namespace: Labels,
): ParentRefusal | undefined {
  const rule = { ...allowedRoutes, namespaces: { from: 'Same', ...allowedRoutes?.namespaces } };
  if (!isKindAllowed(protocol, route) || !allows(rule, gateway.namespace, route, namespace)) {
    return { reason: 'NotAllowedByListeners', message: `listener ${name} does not allow this route` };
  }
  const wanted = route.spec.hostnames ?? [];
  if (hostname === undefined || wanted.length === 0 || wanted.some((one) => intersect(one, hostname))) return undefined;
  return { reason: 'NoMatchingListenerHostname', message: `listener ${name} is for ${hostname} only` };
}

function isKindAllowed(protocol: string, { kind }: CompiledRoute): boolean {
  if (protocol === 'HTTP' || protocol === 'HTTPS') return looksIntoRequests(kind);
  return `${protocol}Route` === kind || (protocol === 'TLS' && kind === 'TCPRoute');
}

function intersect(a: string, b: string): boolean {
  const covers = (wild: string, name: string): boolean => wild.startsWith('*.') && name.endsWith(wild.slice(1));
  return a === b || covers(a, b) || covers(b, a);
}

/** True if `rule` allows the route to bind to a parent in `namespace`; the labels are those of the route's namespace. */
export function allows(rule: AllowedRoutes, namespace: string, route: CompiledRoute, labels: Labels): boolean {
  const { namespaces, kinds } = rule;
  const byKind =
    kinds === undefined || kinds.some(({ kind, group }) => kind === route.kind && isGatewayApiGroup(group));
  return byKind && allowsNamespace(namespaces, namespace, route, labels);
}

const isGatewayApiGroup = (group = GATEWAY_GROUP): boolean => group === GATEWAY_GROUP;

function allowsNamespace(
  rule: AllowedRoutes['namespaces'],
  namespace: string,
  route: CompiledRoute,
  labels: Labels,
): boolean {
  const from = rule?.from ?? 'All';
  if (from === 'Same') return route.id.namespace === namespace;
  return from === 'All' || (from === 'Selector' && selectsLabels(rule?.selector ?? {}, labels));
}
