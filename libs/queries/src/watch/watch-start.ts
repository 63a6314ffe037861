import type { Identity, Resource, StorePoint } from '@causeway/resources';
import { yieldToEventLoop } from '@causeway/runtime';
import { RelistRequired, type IndexReader, type ResourceStore } from '@causeway/store';
import { ConcurrencyLimit } from '../concurrency-limit';
import { WatchExpired } from '../errors';
import type { ReadYourWrites } from '../list/read-your-writes';
import type { Lister, ListScope } from '../list/lister';
import type { SortKey } from '../list/page';
import type { Watch, WatchStart } from './watch';
import type { ResumeFrom } from './watch-event';

/** Number of resources that the initial list of a watch reads in one turn of the event loop. */
const LIST_CHUNK = 500;

/** Limits of watches that read past changes from the store: each costs a stream of the store. */
const REPLAYS = { running: 4, queued: 1_000 } as const;

/** Dependencies of WatchStarts. */
export interface WatchStartSources {
  readonly index: IndexReader;
  readonly store: ResourceStore;
  readonly lister: Lister;
  readonly readYourWrites: ReadYourWrites;
}

/** Decides whether a new watch starts with the whole list, or with the changes since its resume point. */
export class WatchStarts {
  private readonly replays = new ConcurrencyLimit(REPLAYS);

  constructor(private readonly sources: WatchStartSources) {}

  /**
   * Resolves when the index has the revision from which a watch resumes. Rejects with WatchExpired for a revision that
   * the store has not reached: it belongs to another incarnation.
   */
  async waitFor(revision: number): Promise<void> {
    const { readYourWrites, store } = this.sources;
    if (revision <= readYourWrites.revision()) return;
    if ((await store.head()).revision < revision) throw new WatchExpired('the store never was at that revision');
    await readYourWrites.wait(revision);
  }

  /** Returns the start of `watch`, and adds replayed changes to it. Rejects with WatchExpired if the client must list again. */
  async of(scope: ListScope, since: ResumeFrom | undefined, watch: Watch, stop: AbortSignal): Promise<WatchStart> {
    const { index, lister } = this.sources;
    const point = index.point ?? { incarnation: '', revision: 0 };
    if (!since) {
      await lister.ready(scope.kind, () => stop);
      return { list: listAll(lister, scope), point };
    }
    if (since.incarnation !== undefined && since.incarnation !== point.incarnation)
      throw new WatchExpired('the store began a new incarnation');
    if (since.revision < point.revision) {
      const range = { since: { incarnation: point.incarnation, revision: since.revision }, until: point.revision };
      await this.replays.run(() => this.replay(scope, range, watch, stop), stop);
    }
    return { point };
  }

  /**
   * Adds each resource of `scope` that changed in a range of revisions, from the store's changes. The newest state
   * comes from the index: whether the reader has the resource is unknown.
   */
  private async replay(
    { kind, mesh }: ListScope,
    { since, until }: { readonly since: StorePoint; readonly until: number },
    watch: Watch,
    stop: AbortSignal,
  ): Promise<void> {
    const isInScope = (id: Identity): boolean => id.kind === kind && (mesh === undefined || id.mesh === mesh);
    const enough = new AbortController();
    try {
      for await (const batch of this.sources.store.watch(since, AbortSignal.any([enough.signal, stop]))) {
        for (const change of batch.changes) {
          const { id } = change.type === 'put' ? change.resource : change.tombstone;
          if (isInScope(id) && !watch.recordReplayed(id))
            throw new WatchExpired('more changed since then than is sent one by one');
        }
        if (batch.revision >= until) break;
      }
    } catch (error) {
      if (error instanceof RelistRequired) throw new WatchExpired(error.message);
      throw error;
    } finally {
      enough.abort();
    }
  }
}

/** Yields the whole list in chunks as the reader gets to them: nothing is buffered for slow readers. */
async function* listAll(lister: Lister, scope: ListScope): AsyncGenerator<Resource> {
  let after: SortKey | undefined;
  do {
    const { resources, last } = lister.next(scope, after, LIST_CHUNK);
    yield* resources;
    after = last;
    if (after) await yieldToEventLoop();
  } while (after);
}
