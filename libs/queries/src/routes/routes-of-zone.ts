import { MeshRoutes, type Meshes } from '@causeway/meshes';
import { isJsonArray, isJsonObject, Label, labelValue, type Resource } from '@causeway/resources';
import type { BindingTable } from '@causeway/routing';
import { inSlices } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';

/** Client and service of a view of routes. */
export interface RoutesView {
  readonly mesh: string;
  readonly zone: string;
  /** Only routes with it as a parent are read; all backends are. */
  readonly service: Resource;
}

/**
 * Binds the routes to one service as zone `zone` would, from this control plane's resources: routes, Gateways and
 * grants of that zone and of the global, MeshServices of all enabled zones. Export rules and lost zones are ignored, as
 * for hostnames. One pass over the members of all meshes, in slices; rejects with the signal's reason.
 */
export async function routesOfZone(
  index: IndexReader,
  meshes: Meshes,
  { mesh, zone, service }: RoutesView,
  signal: AbortSignal,
): Promise<BindingTable> {
  const disabled = new Set(
    [...index.ofKind('Zone')].filter(({ spec }) => spec['enabled'] === false).map(({ id }) => id.name),
  );
  const name = labelValue(service.labels, Label.displayName) || service.id.name;
  const isRelevant = (resource: Resource): boolean => {
    const { id } = resource;
    if (id.kind === 'Namespace') return true;
    if (id.mesh !== mesh) return false;
    if (id.kind === 'MeshService') return id.zone === zone || !disabled.has(id.zone);
    if (id.zone !== zone && id.zone !== '') return false;
    return !id.kind.endsWith('Route') || namesParent(resource, name);
  };
  const routes = new MeshRoutes({
    meshes,
    zone,
    index: {
      *ofKind(kind) {
        for (const resource of index.ofKind(kind)) if (isRelevant(resource)) yield resource;
      },
      countByMesh: (kind) => index.countByMesh(kind),
    },
  });
  await inSlices(routes.load(), signal);
  return routes.table;
}

function namesParent({ spec }: Resource, name: string): boolean {
  const { parentRefs } = spec;
  return isJsonArray(parentRefs) && parentRefs.some((ref) => isJsonObject(ref) && ref['name'] === name);
}
