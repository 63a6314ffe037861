import { computedLabels, globalIdentity, type Registry } from '@causeway/resources';
import type { ResourceStore } from '@causeway/store';

/** Writes the Zone of a name that has none: a zone is made known by its first session (design.md §1 table). */
export async function ensureZone(store: ResourceStore, registry: Registry, zone: string): Promise<void> {
  const kind = registry.kind('Zone');
  if (!kind) return;
  const id = globalIdentity(kind.name, zone);
  if (await store.get(id)) return;
  const labels = computedLabels(kind, id, { role: 'global' });
  await store.write({ changes: [{ type: 'put', id, expect: 'absent', labels, spec: {} }], onRefusal: 'skip' });
}
