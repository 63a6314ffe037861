import { identityKey, isJsonArray, isJsonObject, type Resource, type ResourceKey } from '@causeway/resources';
import { isGroup } from './services';

/** Maximum number of members of a MeshMultiZoneService that are read: more than the supported number of zones. */
const MAX_MEMBERS = 4_096;

/** The MeshMultiZoneServices with their members, in both directions. */
export class GroupMembers {
  private readonly groups = new Map<ResourceKey, Set<ResourceKey>>();
  private readonly members = new Map<ResourceKey, readonly ResourceKey[]>();

  /** Returns the members of a group. */
  of(key: ResourceKey): readonly ResourceKey[] {
    return this.members.get(key) ?? [];
  }

  /** Returns the groups of a member. */
  groupsOf(key: ResourceKey): Iterable<ResourceKey> {
    return this.groups.get(key) ?? [];
  }

  /** Replaces the members of a group; `group` is undefined if it is gone. */
  replace(key: ResourceKey, group: Resource | undefined): void {
    if (!isGroup(key)) return;
    for (const member of this.of(key)) {
      const groups = this.groups.get(member);
      groups?.delete(key);
      if (groups?.size === 0) this.groups.delete(member);
    }
    const members = group ? listMembers(group) : [];
    if (members.length > 0) this.members.set(key, members);
    else this.members.delete(key);
    for (const member of members) this.groups.set(member, (this.groups.get(member) ?? new Set()).add(key));
  }
}

/** Returns the members that the zone's multizone loop lists; of the service's own mesh only. */
function listMembers({ id: { mesh }, status }: Resource): readonly ResourceKey[] {
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
