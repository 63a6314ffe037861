import { hasChains, type EnvoyView } from '../views/envoy-view';
import type { ResourceBuild } from './resource-build';

/** The scope of what ingresses share; no mesh has this name. */
const INGRESS = '/ingress';
/** After the name of a mesh: the scope of what its gRPC clients share. */
const GRPC = '/grpc';
/** After the name of a mesh: the scope of what its proxies share to which every service is bytes. */
const BYTES = '/bytes';
/** After the name of a mesh, before a namespace: the scope of what the proxies of a namespace share that has routes of its own. */
const CONSUMERS = '/consumers:';
/** After each scope: what those share of it that resolve host names themselves, and what the others do, where these differ. */
const [NAMES, ADDRESSES] = ['/names', '/addresses'];
/** After the name of a mesh: the scope of what those of its proxies share that translate addresses in the kernel. */
const DIRECT = '/direct';

/** The scopes in which a view's shared resources are kept. */
export function listScopes(view: EnvoyView): readonly string[] {
  return sharedScopes(view).flatMap((scope) => [scope, scope + hostScope(view)]);
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

/** The scope of what the proxies of a namespace share where its own routes decide. */
export function consumerScope(view: EnvoyView, namespace: string): string {
  return `${listScopes(view).at(-1)}${CONSUMERS}${namespace}`;
}

/** The scope in which a resource is kept that is made by a plan. */
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
