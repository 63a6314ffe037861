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
import type { Fence, MetadataEntry, PutChange, ResourceStore } from '@causeway/store';

/** Dependencies of `applyDefaults`. */
export interface DefaultsParts {
  readonly store: ResourceStore;
  readonly controlPlane: ControlPlane;
  readonly clock: Clock;
  /** The leader's fence. It keeps two replicas from interleaving their reads and writes. */
  readonly fence?: Fence;
}

const AREA = 'defaults';

/**
 * Creates the default resources of a control plane, each once per store: a default that a user deleted or changed stays
 * deleted or changed (docs/design.md §4, defaults). A metadata entry that marks each default as created is written in
 * the same transaction. Called by the leader at each start; a second call writes nothing. Resolves to the identities it
 * created. Throws Fenced, Unavailable.
 */
export async function applyDefaults(parts: DefaultsParts): Promise<readonly Identity[]> {
  const { store, controlPlane, clock, fence } = parts;
  const marked = new Set((await store.listMetadata(AREA)).map((entry) => entry.key));
  const missing = defaultChanges(controlPlane).filter((change) => !marked.has(identityKey(change.id)));
  if (missing.length === 0) return [];
  const entries = missing.map((change): MetadataEntry => ({
    area: AREA,
    key: identityKey(change.id),
    value: { at: clock.now() },
  }));
  const { results } = await store.write({
    changes: missing,
    onRefusal: 'skip',
    metadata: entries,
    ...(fence ? { fence } : {}),
  });
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
