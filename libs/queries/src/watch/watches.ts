import type { Meshes } from '@causeway/meshes';
import { Unavailable, type Resource } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import { isSelected, type ListScope } from '../list/lister';
import { requireMesh } from '../list/resource-queries';
import { Watch, type SlowReason, type WatchBounds, type WatchShared } from './watch';
import { WatchMemory, WritePacer } from './watch-budget';
import type { ResumeFrom, WatchSink } from './watch-event';
import { WatchStarts, type WatchStartSources } from './watch-start';

/** The limits of all watches of a process. Durations in ms, sizes in bytes. */
export interface WatchLimits extends WatchBounds {
  /** Maximum number of open watches. */
  readonly watches: number;
  /** Maximum number of them per client address. */
  readonly watchesPerClient: number;
  /** Maximum bytes that all watches hold together; above it, the watches of the slowest readers are ended. */
  readonly allWatchBytes: number;
  /** Maximum duration of a watch: clients open another one, perhaps on another replica. */
  readonly watchTime: number;
}

/** Default limits of watches. */
export const DEFAULT_WATCH_LIMITS: WatchLimits = {
  watches: 1_000,
  watchesPerClient: 500,
  watchBytes: 4 * 1024 * 1024,
  allWatchBytes: 128 * 1024 * 1024,
  heartbeat: 15_000,
  stall: 30_000,
  watchTime: 3_600_000,
  backlog: 10_000,
};

/** Scope of a client's watch, its resume point, and the minimum revision of its start. */
export interface WatchRequest {
  readonly scope: ListScope;
  /** Undefined: the whole list comes first. */
  readonly since?: ResumeFrom | undefined;
  readonly minRevision?: number | undefined;
  /** The address of the client, for the limit per client. */
  readonly client: string;
}

/** Dependencies and bounds of watches. */
export interface WatchesSources extends WatchStartSources {
  readonly meshes: Pick<Meshes, 'exists'>;
  readonly clock: Clock;
  readonly limits: WatchLimits;
}

/** Metrics of all watches. */
export interface WatchMetrics {
  readonly open: number;
  /** Bytes held for readers that have not read them. */
  readonly bytes: number;
  /** Watches ended because their reader was too slow, by reason. */
  readonly ended: Readonly<Record<SlowReason, number>>;
}

/** Opens the watches of a process and limits their number, in total and per client, and their bytes. */
export class Watches {
  private readonly open = new Set<Watch>();
  private readonly clients = new Map<string, number>();
  private readonly ended: Record<SlowReason, number> = { stall: 0, backlog: 0, memory: 0 };
  private readonly memory: WatchMemory;
  private readonly starts: WatchStarts;
  private readonly shared: WatchShared;

  constructor(private readonly sources: WatchesSources) {
    const { clock, limits, index } = sources;
    this.memory = new WatchMemory(limits.allWatchBytes, () => this.shedSlowest());
    this.starts = new WatchStarts(sources);
    this.shared = {
      clock,
      bounds: limits,
      memory: this.memory,
      pacer: new WritePacer(),
      resourceAt: (key) => index.byIdentityKey(key),
    };
  }

  /** The metrics now. */
  metrics(): WatchMetrics {
    return { open: this.open.size, bytes: this.memory.bytes, ended: { ...this.ended } };
  }

  /**
   * Sends events to `sink` until its reader disconnects or `close` is called. Rejects before the sink is opened: with
   * NotFound for a missing mesh, with WatchExpired if the client must list again, with Unavailable if too many watches
   * are open, and as ReadYourWrites.wait does.
   */
  async serve(request: WatchRequest, sink: WatchSink): Promise<void> {
    await this.check(request);
    const { scope, since, client } = request;
    const leave = this.admitClient(client);
    const watch = new Watch(sink, { kind: scope.kind, isSelected: (one) => isInScope(one, scope) }, this.shared);
    this.open.add(watch);
    const timer = this.sources.clock.after(this.sources.limits.watchTime, () => watch.end('closed'));
    const unsubscribe = this.sources.index.subscribe((event) => watch.record(event));
    try {
      const start = await this.starts.of(scope, since, watch, sink.gone);
      sink.open(start.point);
      if (sink.gone.aborted) return sink.end(false);
      await watch.run(start);
    } finally {
      timer.cancel();
      unsubscribe();
      watch.end('closed');
      this.open.delete(watch);
      if (watch.slowReason !== undefined) this.ended[watch.slowReason]++;
      leave();
    }
  }

  /** Ends all watches. */
  close(): void {
    for (const watch of this.open) watch.end('closed');
  }

  private async check({ scope: { mesh }, since, minRevision }: WatchRequest): Promise<void> {
    await this.sources.readYourWrites.wait(minRevision);
    if (since) await this.starts.waitFor(since.revision);
    if (mesh !== undefined) requireMesh(this.sources.meshes, mesh);
  }

  /** Counts a watch of a client until the returned function is called. */
  private admitClient(client: string): () => void {
    const { watches, watchesPerClient } = this.sources.limits;
    const own = this.clients.get(client) ?? 0;
    if (this.open.size >= watches) throw new Unavailable(`${this.open.size} watches are open here, more are not taken`);
    if (own >= watchesPerClient)
      throw new Unavailable(`${own} watches are open here from this address, more are not taken`);
    this.clients.set(client, own + 1);
    return () => {
      const left = (this.clients.get(client) ?? 1) - 1;
      if (left > 0) this.clients.set(client, left);
      else this.clients.delete(client);
    };
  }

  /** Ends watches until the memory is within its limit: those that hold most first, then those that wait longest. */
  private shedSlowest(): void {
    const slowest = [...this.open].sort((a, b) => b.bytes - a.bytes || a.stuckSince - b.stuckSince);
    for (const watch of slowest) {
      if (this.memory.bytes <= this.memory.limit || watch.bytes === 0) return;
      watch.endSlow('memory');
    }
  }
}

function isInScope(resource: Resource, { mesh, selection }: ListScope): boolean {
  return (mesh === undefined || resource.id.mesh === mesh) && isSelected(resource, selection);
}
