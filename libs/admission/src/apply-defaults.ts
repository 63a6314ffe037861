import { coreKinds, defaultResources } from '@causeway/kinds';
import {
  computedLabels,
  identityKey,
  isJsonObject,
  ownZone,
  type ControlPlane,
  type Identity,
  type Kind,
} from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { Fence, Note, PutChange, ResourceStore } from '@causeway/store';

/** What writing the defaults takes. */
export interface DefaultsParts {
  readonly store: ResourceStore;
  readonly controlPlane: ControlPlane;
  readonly clock: Clock;
  /** The leader's right to write; with it two replicas cannot come between each other's reading and writing. */
  readonly fence?: Fence;
}

const AREA = 'defaults';

/**
 * Writes the resources that a control plane begins with, each once in the life of a store: what a user has deleted or
 * changed since stays so (design.md §4 defaults). The mark that says so is written in the same transaction. Call it as
 * leader, at each start; a second call writes nothing. Resolves to the identities it created. Throws Fenced,
 * Unavailable.
 */
export async function applyDefaults(parts: DefaultsParts): Promise<readonly Identity[]> {
  const { store, controlPlane, clock, fence } = parts;
  const marked = new Set((await store.notes(AREA)).map((note) => note.key));
  const missing = defaultChanges(controlPlane).filter((change) => !marked.has(identityKey(change.id)));
  if (missing.length === 0) return [];
  const notes = missing.map((change): Note => ({
    area: AREA,
    key: identityKey(change.id),
    value: { at: clock.now() },
  }));
  const { results } = await store.write({ changes: missing, onRefusal: 'skip', notes, ...(fence ? { fence } : {}) });
  return missing.filter((_, i) => results[i]?.type === 'written').map((change) => change.id);
}

function defaultChanges(cp: ControlPlane): PutChange[] {
  return defaultResources(cp).flatMap(({ kind: kindName, name, spec }) => {
    const kind = coreKinds.kind(kindName);
    const filled = kind?.withDefaults(spec);
    if (!kind || !isJsonObject(filled)) return [];
    const id = defaultIdentity(kind, name, cp);
    return [{ type: 'put', id, expect: 'absent', labels: computedLabels(kind, id, cp), spec: filled } as const];
  });
}

function defaultIdentity(kind: Kind, name: string, cp: ControlPlane): Identity {
  return { kind: kind.name, mesh: '', zone: kind.sync.zoneInIdentity ? ownZone(cp) : '', namespace: '', name };
}
