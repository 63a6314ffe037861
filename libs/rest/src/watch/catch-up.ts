import type { Resource, StorePoint } from '@causeway/resources';
import { Relist, type ResourceStore, type StoreChange } from '@causeway/store';
import { HttpFailure } from '../http/http-failure';
import type { Told } from './pending-changes';

/** Which past a reader asks for. */
export interface Past {
  readonly since: StorePoint;
  /** The index already has this; changes behind it come from the index. */
  readonly until: number;
  readonly isWanted: (id: Resource['id']) => boolean;
  readonly isSelected: (resource: Resource) => boolean;
}

/**
 * What changed between two revisions, from the store, the latest of each resource. Throws 410 when deletions of that
 * time are forgotten. A resource that no longer fits the selection is told as deleted: whether the reader ever had it
 * is not known any more.
 */
export async function changesBetween(store: ResourceStore, past: Past, stop: AbortSignal): Promise<Told[]> {
  const told = new Map<string, Told>();
  const enough = new AbortController();
  try {
    for await (const batch of store.watch(past.since, AbortSignal.any([enough.signal, stop]))) {
      for (const change of batch.changes) noteChange(told, change, past);
      if (batch.revision >= past.until) break;
    }
  } catch (error) {
    if (error instanceof Relist) throw tooOld(error.message);
    throw error;
  } finally {
    enough.abort();
  }
  return [...told.values()];
}

/** 410: the reader has to list again. */
export function tooOld(why: string): HttpFailure {
  return new HttpFailure(410, `This watch cannot go on: ${why}. List again and watch from the revision of that list.`);
}

function noteChange(told: Map<string, Told>, change: StoreChange, past: Past): void {
  const id = change.type === 'put' ? change.resource.id : change.tombstone.id;
  if (!past.isWanted(id)) return;
  const key = JSON.stringify(id);
  told.delete(key);
  const shown = change.type === 'put' && past.isSelected(change.resource);
  told.set(key, shown ? { type: 'put', resource: change.resource } : { type: 'delete', id });
}
