import { hasChains, type EnvoyView } from '../views/envoy-view';
import type { ResourceBuild } from './resource-build';

/** The scope that ingresses share; no mesh has this name. */
const INGRESS = '/ingress';
/** Appended to the name of a mesh: the scope of its gRPC clients. */
const GRPC = '/grpc';
/** Appended to the name of a mesh: the scope of its proxies that treat every service as TCP. */
const BYTES = '/bytes';
/** Appended to the name of a mesh, followed by a namespace: the scope of the proxies of a namespace with routes of its own. */
const CONSUMERS = '/consumers:';
/** Appended to a scope if the contents differ: for clients that resolve host names themselves, and for the others. */
const [NAMES, ADDRESSES] = ['/names', '/addresses'];
/** Appended to the name of a mesh: the scope of its proxies that translate addresses in the kernel. */
const DIRECT = '/direct';

const scopesByView = new WeakMap<EnvoyView, readonly string[]>();

/** Returns the scopes in which a view's shared resources are kept; formatted once for each view. */
export function listScopes(view: EnvoyView): readonly string[] {
  const known = scopesByView.get(view);
  if (known) return known;
  const scopes = sharedScopes(view).flatMap((scope) => [scope, scope + hostScope(view)]);
  scopesByView.set(view, scopes);
  return scopes;
}

function hostScope({ resolvesNames }: EnvoyView): string {
  return resolvesNames === true ? NAMES : ADDRESSES;
}

function sharedScopes(view: EnvoyView): readonly string[] {
  if (view.wire === 'grpc') return [view.mesh + GRPC];
  if (view.ingress) return [INGRESS, view.mesh];
  if (view.capture?.type === 'translate') return [view.mesh + DIRECT];
  return view.capture && !hasChains(view) ? [view.mesh, view.mesh + BYTES] : [view.mesh];
}

/** Returns the scope of the proxies of a namespace whose own routes apply. */
export function consumerScope(view: EnvoyView, namespace: string): string {
  return `${listScopes(view).at(-1)}${CONSUMERS}${namespace}`;
}

/** Returns the scope in which the resource of a plan is kept. */
export function formatScopeName(plan: ResourceBuild, view: EnvoyView): string {
  const shared = formatSharedScope(plan, view);
  return plan.isByNames === true && plan.scope !== 'view' ? shared + hostScope(view) : shared;
}

function formatSharedScope({ scope }: ResourceBuild, { mesh, capture }: EnvoyView): string {
  switch (scope) {
    case 'ingress':
      return INGRESS;
    case 'grpc':
      return mesh + GRPC;
    case 'bytes':
      return capture?.type === 'translate' ? mesh + DIRECT : mesh + BYTES;
    case 'mesh':
      return capture?.type === 'translate' ? mesh + DIRECT : mesh;
    case 'view':
      return mesh;
  }
}
