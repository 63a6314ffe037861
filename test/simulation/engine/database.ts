import { Unavailable } from '@causeway/resources';
import type { LeaderEpoch, LeaderLease } from '@causeway/runtime';
import type {
  ChangeBatch,
  ResourceIndex,
  ResourceStore,
  SessionStore,
  Snapshot,
  WriteRequest,
  WriteResult,
} from '@causeway/store';
import { MemoryDisk, MemoryLease, MemorySessions, MemoryStore } from '@causeway/store/testing';
import type { WatchedDisk } from './watched-disk';
import type { Prng } from './prng';
import type { SimProcess } from './sim-process';

/** Faults between the engine and its store; only a simulation that looks for faults sets any. */
export interface StoreFaults {
  /** Returns the request that is written in place of the given one. */
  readonly write?: (request: WriteRequest, disk: WatchedDisk) => WriteRequest;
  /** Answers a write before it is done; undefined = as it should be. */
  readonly answerEarly?: (request: WriteRequest, disk: WatchedDisk) => WriteResult | undefined;
  /** Whether a process shows what it writes before it is committed. */
  readonly showsUncommitted?: boolean;
  readonly snapshot?: (snapshot: Snapshot) => Snapshot;
  readonly batch?: (batch: ChangeBatch) => ChangeBatch;
  /** ms that every watch is behind besides: it shows other faults more often. */
  readonly lag?: number;
  /** The index that the global's sync reads in place of the one that follows the store. */
  readonly view?: (index: ResourceIndex, disk: WatchedDisk) => ResourceIndex;
}

/** The link of one process to its database: requests and answers take time, and get lost. */
export class DatabaseLink {
  /** No request is served and no answer arrives. */
  away = false;
  /** ms that the watch is behind besides its own time. */
  lag = 0;
  /** ms that a request or an answer may take besides. */
  slow = 0;

  constructor(
    readonly process: SimProcess,
    readonly disk: WatchedDisk,
    private readonly random: Prng,
    readonly faults: StoreFaults = {},
  ) {}

  /** Does `work` on the database and answers; a request under way is served even when its process has died. */
  call<T>(work: () => Promise<T>): Promise<T> {
    const { process, random } = this;
    return new Promise((resolve, reject) => {
      const fail = (): void => process.later(this.delay(), () => reject(new Unavailable('the database is away')));
      const servedAfterDeath = random.chance(0.5);
      process.timeline.after(this.delay(), () => {
        if (process.isDead && !servedAfterDeath) return;
        if (this.away) return fail();
        work().then(
          (value) => process.later(this.delay(), () => (this.away ? fail() : resolve(value))),
          (error: Error) => process.later(this.delay(), () => reject(error)),
        );
      });
    });
  }

  /** Resolves when news of a commit have reached this process. */
  news(): Promise<void> {
    return new Promise((resolve) => {
      const arrive = (): void => {
        if (this.away) this.process.later(50, arrive);
        else resolve();
      };
      this.process.later(this.random.between(0, 2) + this.lag + (this.faults.lag ?? 0), arrive);
    });
  }

  private delay(): number {
    const { random, slow } = this;
    if (slow > 0) return random.between(0, slow);
    if (random.chance(0.01)) return random.between(50, 1_500);
    return random.chance(0.5) ? 0 : random.between(0, 3);
  }
}

/** Marks requests of users, which need no fence. */
const OF_USER = Symbol('of a user');

/** Returns a request as one of a user; what the process adds to it stays the user's. */
export function asUser(request: WriteRequest): WriteRequest {
  return { ...request, [OF_USER]: true } as WriteRequest;
}

/** The store as one process sees it. */
export class SimStore implements ResourceStore {
  private readonly inner: MemoryStore;

  /** `show`: called with the changes of a write that is not committed yet, with the fault `showsUncommitted`. */
  constructor(
    private readonly link: DatabaseLink,
    private readonly show: (changes: ChangeBatch['changes']) => void,
  ) {
    this.inner = new MemoryStore(link.disk);
  }

  head(): ReturnType<ResourceStore['head']> {
    return this.link.call(() => this.inner.head());
  }

  compactionRevision(): Promise<number> {
    return this.link.call(() => this.inner.compactionRevision());
  }

  pointKey(): Promise<string> {
    return this.link.call(() => this.inner.pointKey());
  }

  get(id: Parameters<ResourceStore['get']>[0]): ReturnType<ResourceStore['get']> {
    return this.link.call(() => this.inner.get(id));
  }

  async snapshot(): Promise<Snapshot> {
    const snapshot = await this.link.call(() => this.inner.snapshot());
    return this.link.faults.snapshot?.(snapshot) ?? snapshot;
  }

  write(request: WriteRequest): Promise<WriteResult> {
    const { disk, faults, process } = this.link;
    const writer = OF_USER in request && !request.fence ? '' : process.name;
    const work = (): Promise<WriteResult> =>
      disk.during({ writer, request }, () => this.inner.write(faults.write?.(request, disk) ?? request));
    const early = faults.answerEarly?.(request, disk);
    if (faults.showsUncommitted === true) this.show(predictChanges(request, disk));
    const answer = this.link.call(work);
    if (!early) return answer;
    answer.catch(() => undefined);
    return Promise.resolve(early);
  }

  async *watch(
    since: Parameters<ResourceStore['watch']>[0],
    signal: AbortSignal,
  ): AsyncGenerator<ChangeBatch, void, undefined> {
    const over = new AbortController();
    const end = (): void => over.abort();
    const unsubscribe = this.link.process.onDeath(end);
    signal.addEventListener('abort', end, { once: true });
    try {
      for await (const batch of this.inner.watch(since, over.signal)) {
        await this.link.news();
        if (signal.aborted) return;
        yield this.link.faults.batch?.(batch) ?? batch;
      }
    } finally {
      unsubscribe();
      signal.removeEventListener('abort', end);
    }
  }

  readMetadata(area: string, key: string): ReturnType<ResourceStore['readMetadata']> {
    return this.link.call(() => this.inner.readMetadata(area, key));
  }

  listMetadata(area: string): ReturnType<ResourceStore['listMetadata']> {
    const { disk, process } = this.link;
    return this.link.call(() => {
      disk.notesRead.set(`${process.name} ${area}`, process.timeline.now);
      return this.inner.listMetadata(area);
    });
  }

  purgeTombstones(age: number): Promise<number> {
    return this.link.call(() => this.inner.purgeTombstones(age));
  }

  newIncarnation(): ReturnType<MemoryStore['newIncarnation']> {
    return this.link.call(() => this.inner.newIncarnation());
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Returns the changes that a write would make now; none if it would be refused. */
function predictChanges(request: WriteRequest, disk: WatchedDisk): ChangeBatch['changes'] {
  let ids = 0;
  const copy = new MemoryDisk({ clock: disk.clock, newId: () => `uncommitted-${++ids}` });
  copy.restore(disk.save(), 'same');
  const { revision } = copy;
  // A write in memory is done when the call returns.
  new MemoryStore(copy).write(request).catch(() => undefined);
  return copy.changesSince(revision)?.changes ?? [];
}

/** The sessions as one process sees them. */
export function simSessions(link: DatabaseLink): SessionStore {
  const inner = new MemorySessions(link.disk);
  return {
    open: (request) => link.call(() => inner.open(request)),
    adopt: (zone, storeId) => link.call(() => inner.adopt(zone, storeId)),
    resetEpoch: (zone) => link.call(() => inner.resetEpoch(zone)),
    forget: (zone, session) => link.call(() => inner.forget(zone, session)),
    markWhole: (marks) => link.call(() => inner.markWhole(marks)),
    session: (zone) => link.call(() => inner.session(zone)),
    sessions: () => link.call(() => inner.sessions()),
  };
}

/** The leader's lease as one process sees it. */
export function simLease(link: DatabaseLink): LeaderLease {
  const inner = new MemoryLease(link.disk);
  return {
    readEpoch: (): Promise<LeaderEpoch> => link.call(() => inner.readEpoch()),
    takeOver: (from, holder, ms, witness) => link.call(() => inner.takeOver(from, holder, ms, witness)),
    renew: (epoch, holder, ms) => link.call(() => inner.renew(epoch, holder, ms)),
    release: (epoch, holder) => link.call(() => inner.release(epoch, holder)),
    returnToLock: (epoch, holder) => link.call(() => inner.returnToLock(epoch, holder)),
    onRelease: (listener) => {
      const unsubscribe = inner.onRelease(() => link.process.later(1, listener));
      const forget = link.process.onDeath(unsubscribe);
      return () => {
        forget();
        unsubscribe();
      };
    },
  };
}
