import type { Identity } from '@causeway/resources';
import type { ObjectRef, ReferenceGrant } from '../model';
import type { CompiledRoute } from '../rules/compiled-route';
import { backendTarget, findReferenceProblem, GATEWAY_GROUP, targetKind, type ParentTarget } from './frontend';
import type { Targets } from './targets';

/** Target of a share of requests: the ready endpoints of all these services at this port. */
export interface RouteDestination {
  readonly services: readonly Identity[];
  readonly port: number;
}

/** Reason why a reference does not resolve, for the condition ResolvedRefs. */
interface Unresolved {
  readonly reason: 'InvalidKind' | 'BackendNotFound' | 'RefNotPermitted';
  readonly message: string;
}

export type ResolvedBackend =
  | { readonly ok: true; readonly destination: RouteDestination }
  | { readonly ok: false; readonly unresolved: Unresolved };

const unresolved = (reason: Unresolved['reason'], message: string): ResolvedBackend => ({
  ok: false,
  unresolved: { reason, message },
});

/** True if a grant allows this route, which is bound to a Gateway, to name the backend. */
function isGranted(
  route: CompiledRoute,
  { kind, namespace, name }: ParentTarget,
  grants: Iterable<ReferenceGrant>,
): boolean {
  if (namespace === route.id.namespace) return true;
  for (const { from, to } of grants) {
    const here = from.some(
      (source) =>
        source.group === GATEWAY_GROUP && source.kind === route.kind && source.namespace === route.id.namespace,
    );
    const there = to.some((end) => targetKind(end, '') === kind && (end.name === undefined || end.name === name));
    if (here && there) return true;
  }
  return false;
}

/** Lookups for references. */
export interface BackendNames {
  readonly targets: Targets;
  readonly grants: (mesh: string, namespace: string) => Iterable<ReferenceGrant>;
}

/**
 * Resolves a backendRef of a route at the frontend's port `port`. A reference without a port means the frontend's port
 * if the backend has it, else the backend's only port (T002-44). Inside the mesh no grant is needed (T002-35); `grants`
 * are those of the target's namespace, for routes bound to a Gateway.
 */
export function resolveBackend(
  route: CompiledRoute,
  ref: ObjectRef,
  { port, gateway }: { readonly port: number; readonly gateway: boolean },
  { targets, grants }: BackendNames,
): ResolvedBackend {
  const target = backendTarget(route.id, ref);
  if (!target) return unresolved('InvalidKind', `${ref.name}: ${findReferenceProblem(ref, 'backend') ?? ''}`);
  const what = `${target.kind} ${target.namespace}/${target.name}`;
  if (gateway && !isGranted(route, target, grants(route.id.mesh, target.namespace))) {
    return unresolved('RefNotPermitted', `no ReferenceGrant of namespace ${target.namespace} permits ${what}`);
  }
  const found = targets.visible(target.key);
  if (found.length === 0) return unresolved('BackendNotFound', `there is no ${what}`);
  const numbers = new Set(found.flatMap(({ ports }) => ports.map((one) => one.port)));
  const [only] = numbers;
  const meant = ref.port ?? (numbers.has(port) ? port : numbers.size === 1 ? only : undefined);
  if (meant === undefined) return unresolved('BackendNotFound', `${what} has several ports: name one`);
  const services = found.filter(({ ports }) => ports.some((one) => one.port === meant)).map(({ id }) => id);
  if (services.length === 0) return unresolved('BackendNotFound', `${what} has no port ${meant}`);
  return { ok: true, destination: { services, port: meant } };
}
