import { identityKey, isJsonArray, isJsonObject, type Resource, type ResourceKey } from '@causeway/resources';

/** Maximum number of members of a MeshMultiZoneService that are read: more than the supported number of zones. */
const MAX_MEMBERS = 4_096;

/** Returns the members that the zone's multizone loop lists; of the service's own mesh only. */
export function listedMembers({ id: { mesh }, status }: Resource): readonly ResourceKey[] {
  const listed = status?.['meshServices'];
  if (!isJsonArray(listed)) return [];
  const keys = listed.slice(0, MAX_MEMBERS).flatMap((member) => {
    if (!isJsonObject(member)) return [];
    const { name, namespace, zone } = member;
    if (typeof name !== 'string' || typeof namespace !== 'string' || typeof zone !== 'string') return [];
    return [identityKey({ kind: 'MeshService', mesh, zone, namespace, name })];
  });
  return [...new Set(keys)];
}
