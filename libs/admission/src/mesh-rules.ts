import {
  Conflict,
  describeIdentity,
  globalIdentity,
  Unavailable,
  type Identity,
  type Registry,
  type Resource,
} from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { IndexReader, ResourceStore } from '@causeway/store';

/** Something cannot be deleted because others need it; the message names them. */
export class InUse extends Conflict {}

const CATCH_UP_TIMEOUT = 5_000;

/** Whether a mesh exists; asks the database where the index does not know it yet. */
export async function meshExists(mesh: string, store: ResourceStore, index: IndexReader): Promise<boolean> {
  const id: Identity = globalIdentity('Mesh', mesh);
  return index.get(id) !== undefined || (await store.get(id)) !== undefined;
}

/** Throws InUse when `mesh` has members, of whichever zone (design.md §5 Deleting a Mesh). */
export function checkMeshEmpty(mesh: string, registry: Registry, index: IndexReader): void {
  const members = registry.kinds
    .filter((kind) => kind.scope === 'mesh')
    .flatMap((kind) => [...index.ofKind(kind.name)].filter((r: Resource) => r.id.mesh === mesh));
  if (members.length === 0) return;
  const named = members.slice(0, 5).map((member) => describeIdentity(member.id));
  const more = members.length > named.length ? ` and ${members.length - named.length} more` : '';
  throw new InUse(`Mesh ${mesh} is in use by ${named.join(', ')}${more}; delete them first`);
}

/** Waits until the index holds everything committed before the call. Throws Unavailable after 5 s. */
export async function catchUp(store: ResourceStore, index: IndexReader, clock: Clock): Promise<void> {
  const { revision } = await store.head();
  const giveUp = new AbortController();
  const timer = clock.after(CATCH_UP_TIMEOUT, () =>
    giveUp.abort(new Unavailable(`this replica has not reached revision ${revision} yet; try again`)),
  );
  try {
    await index.reached(revision, giveUp.signal);
  } finally {
    timer.cancel();
  }
}
