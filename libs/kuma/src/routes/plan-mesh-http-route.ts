import { createHash } from 'node:crypto';
import { identityKey, jsonEqual, Label, type Identity, type JsonObject, type Resource } from '@causeway/resources';
import type { Change } from '@causeway/store';

export const MESH_HTTP_ROUTE = 'MeshHTTPRoute';
const PREFIX = 'httproute-';

/** Returns the identity of the MeshHTTPRoute that the global generates from a route of its own: one for each route. */
export function meshHttpRouteId(route: Identity): Identity {
  const name = PREFIX + createHash('sha256').update(identityKey(route)).digest('hex').slice(0, 32);
  return { kind: MESH_HTTP_ROUTE, mesh: route.mesh, zone: '', namespace: 'default', name };
}

/** Reports whether the global generated this MeshHTTPRoute; those of an operator or a zone of Kuma have no such label and name. */
export function isMadeOfRoute({ id, labels }: Pick<Resource, 'id' | 'labels'>): boolean {
  return id.zone === '' && id.name.startsWith(PREFIX) && labels[Label.derivedFrom] !== undefined;
}

/** Plans a generated MeshHTTPRoute; see `planMade`. */
export const planMeshHttpRoute = (
  id: Identity,
  held: Resource | undefined,
  wanted: { readonly route: Resource; readonly spec: JsonObject } | undefined,
): Change | undefined => planMade(id, held, wanted && { of: wanted.route, spec: wanted.spec }, isMadeOfRoute);

/**
 * Returns the change after which `held`, the resource under this identity, has `spec`, or is deleted without one; undefined if it is so already. A
 * resource of another author (by `isMade`) is not changed. `of`: the source.
 */
export function planMade(
  id: Identity,
  held: Resource | undefined,
  wanted: { readonly of: Resource; readonly spec: JsonObject } | undefined,
  isMade: (held: Resource) => boolean,
): Change | undefined {
  if (held && !isMade(held)) return undefined;
  if (!wanted) return held && { type: 'delete', id, expect: held.revision };
  const labels = {
    [Label.displayName]: id.name,
    [Label.origin]: 'global',
    [Label.mesh]: id.mesh,
    [Label.derivedFrom]: wanted.of.uid,
  };
  if (held && jsonEqual(held.spec, wanted.spec) && jsonEqual(held.labels, labels)) return undefined;
  return { type: 'put', id, expect: held?.revision ?? 'absent', labels, spec: wanted.spec };
}
