import type { Generated } from '@causeway/appmesh';
import { HTTPRoute, MeshService } from '@causeway/kinds';
import {
  computedLabels,
  isGeneratedFrom,
  isMadeHere,
  jsonEqual,
  type ControlPlane,
  type JsonObject,
  type Resource,
} from '@causeway/resources';
import type { Change } from '@causeway/store';

/** Spec fields of a generated MeshService that come from its source; other loops write the other fields. */
const OWN_FIELDS = ['selector', 'ports', 'export'];

/**
 * Plans the change of one object. An object that a user wrote under its name is never changed, and an up-to-date object is not written again. Each
 * change expects the revision that it was planned from: of two leaders one gets a conflict, and after a crash the plan is made again.
 */
export function planGenerated(
  wanted: Generated | undefined,
  existing: Resource | undefined,
  cp: ControlPlane,
): Change | undefined {
  if (existing && (!isGeneratedFrom(existing.labels) || !isMadeHere(existing, cp))) return undefined;
  if (!wanted) return existing && { type: 'delete', id: existing.id, expect: existing.revision };
  const { id } = wanted;
  // All generated kinds have the scope of these two.
  const kind = id.kind === MeshService.name ? MeshService : HTTPRoute;
  const labels = { ...wanted.labels, ...computedLabels(kind, id, cp) };
  const spec = id.kind === MeshService.name ? serviceSpec(wanted.spec, existing?.spec) : wanted.spec;
  if (existing && jsonEqual(existing.labels, labels) && jsonEqual(existing.spec, spec)) return undefined;
  return { type: 'put', id, expect: existing?.revision ?? 'absent', labels, spec };
}

/** Merges the fields of other loops; if the source has no ports, the existing ones stay (T003-15). */
function serviceSpec(wanted: JsonObject, existing: JsonObject = {}): JsonObject {
  const others = Object.entries(existing).filter(([field]) => !OWN_FIELDS.includes(field));
  return { ...Object.fromEntries(others), ports: existing['ports'] ?? [], ...wanted };
}
