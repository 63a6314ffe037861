import type { Identity, StorePoint } from '@causeway/resources';
import { RelistRequired, type ResourceStore } from '@causeway/store';
import { HttpError } from '../http/http-error';

/** Which past a reader asks for. */
export interface ReplayRange {
  readonly since: StorePoint;
  /** The index already has this; changes behind it come from the index. */
  readonly until: number;
  readonly isWanted: (id: Identity) => boolean;
}

/**
 * Calls `changed` with each resource that changed between two revisions, by the store; one that changed often may come
 * often. Throws 410 when deletions of that time are forgotten. What is said of each is left to the index: whether the
 * reader ever had it is not known any more.
 */
export async function replayChanges(
  store: ResourceStore,
  { since, until, isWanted }: ReplayRange,
  changed: (id: Identity) => void,
  stop: AbortSignal,
): Promise<void> {
  const enough = new AbortController();
  try {
    for await (const batch of store.watch(since, AbortSignal.any([enough.signal, stop]))) {
      for (const change of batch.changes) {
        const { id } = change.type === 'put' ? change.resource : change.tombstone;
        if (isWanted(id)) changed(id);
      }
      if (batch.revision >= until) break;
    }
  } catch (error) {
    if (error instanceof RelistRequired) throw watchExpired(error.message);
    throw error;
  } finally {
    enough.abort();
  }
}

/** 410: the reader has to list again. */
export function watchExpired(why: string): HttpError {
  return new HttpError(410, `This watch cannot go on: ${why}. List again and watch from the revision of that list.`);
}
