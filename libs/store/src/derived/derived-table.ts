import type { StorePoint } from '@causeway/resources';
import { errorText, inTimedSlices, type Clock, type Logger } from '@causeway/runtime';
import type { IndexEvent, IndexReader } from '../resource-index';
import { DoubleBuffer, type Derivation } from './derivation';

/** Takes all steps of a fill: at once, or in slices so that the event loop is not blocked. */
export type FillRunner = (steps: Iterable<unknown>) => void;

/** Options of a fill in slices. */
export interface FillOptions {
  readonly clock: Pick<Clock, 'elapsed'>;
  readonly logger: Logger;
  /** Logged as an error if a step throws; the table then stays unchanged. */
  readonly failure: string;
  /** Cancels running fills. */
  readonly signal?: AbortSignal;
}

/** Takes the first slice at once, then one slice per turn of the event loop. */
export function fillInSlices({ clock, logger, failure, signal }: FillOptions): FillRunner {
  return (steps) => {
    inTimedSlices(steps, { clock, ...(signal && { signal }) }).catch((error: unknown) => {
      if (!signal?.aborted) logger.error(failure, { error: errorText(error) });
    });
  };
}

/** State that follows a derived table, or the index. Its methods are called after the change, must be quick and not throw. */
export interface Follower<Change> {
  /** Announces that everything was derived again and may have changed. */
  reload(): void;
  /** Takes what one event may have changed. */
  apply(change: Change): void;
}

/** A derived table as its followers see it. */
export interface FollowedTable<Change> {
  /** Whether the index was loaded once and everything is derived from it. */
  readonly hasLoaded: boolean;
  /** Calls the follower after each change until the returned function is called. */
  subscribe(follower: Follower<Change>): () => void;
}

/** A derived table as the tables derived from it see it. */
interface DerivedSource<Change> extends FollowedTable<Change> {
  readonly isCurrent: boolean;
}

/** Dependencies of a derived table. */
export interface DerivedTableOptions<Table, Change, SourceChange = never> {
  readonly index: Pick<IndexReader, 'point' | 'subscribe'>;
  readonly derivation: Derivation<Table, Change, SourceChange>;
  /** Runs fills. */
  readonly run: FillRunner;
  /** Another table of the same index from which this one is derived too; must be created and filled first. */
  readonly source?: DerivedSource<SourceChange> | undefined;
  /** Maximum cost (`Derivation.estimateCost`) of an event that is applied; above it the table is filled again. */
  readonly maxAtOnce?: number | undefined;
}

/** Maximum number of resources that one event may compute without yielding to the event loop. */
const MAX_AT_ONCE = 1_000;

/**
 * A table derived from the index, kept up to date until `close`. During a refill the served table stays unchanged, and
 * events are applied to the new one. Its source announces the effects of an event before this table gets that event,
 * and both are applied as one, so listeners never see a table with half an event. It follows the index from its
 * creation: create it before subscribers of the index that read it.
 */
export class DerivedTable<Table, Change, SourceChange = never> implements DerivedSource<Change> {
  private readonly buffer: DoubleBuffer<Table, Change, SourceChange>;
  private readonly followers = new Set<Follower<Change>>();
  private readonly waiting = new Set<() => void>();
  private readonly subscriptions: readonly (() => void)[];
  private loaded = false;
  /** The last event received here. */
  private seen: StorePoint | undefined;
  /** Changes of the source by an event that was not received here yet. */
  private pending: SourceChange[] = [];

  constructor(private readonly options: DerivedTableOptions<Table, Change, SourceChange>) {
    const { index, derivation, source } = options;
    this.buffer = new DoubleBuffer(derivation);
    this.seen = index.point;
    const unsubscribe = source?.subscribe({
      reload: () => this.refill(),
      apply: (change) => this.applySource(change),
    });
    this.subscriptions = [...(unsubscribe ? [unsubscribe] : []), index.subscribe((event) => this.observe(event))];
    if (source ? source.hasLoaded : index.point) this.refill();
  }

  /** The served table: empty before the first fill, and a new object after each reload. */
  get served(): Table {
    return this.buffer.table;
  }

  /** Whether the index was loaded and the table filled at least once. */
  get hasLoaded(): boolean {
    return this.loaded;
  }

  /** Whether the table reflects the whole index: false before the first fill, and while it or its source is refilled. */
  get isCurrent(): boolean {
    return this.loaded && !this.buffer.isFilling && this.options.source?.isCurrent !== false;
  }

  /** Resolves when the index was loaded and the table filled; never if `close` comes first. */
  async whenLoaded(): Promise<void> {
    if (!this.loaded) await new Promise<void>((resolve) => this.waiting.add(resolve));
  }

  /** Calls `follower` after each change, until the returned function is called. */
  subscribe(follower: Follower<Change>): () => void {
    this.followers.add(follower);
    return () => void this.followers.delete(follower);
  }

  /** Fills the table again from the index. The kit does so itself at each reload; callers do if something outside the index changed. */
  refill(): void {
    this.pending = [];
    this.options.run(this.announcing(this.buffer.refill()));
  }

  /** Applies a change from outside the index, which computes `cost` resources, to the table that gets changes. */
  change(apply: (table: Table) => Change | undefined, cost = 0): void {
    if (!this.isStarted) return;
    if (cost > this.maxAtOnce) return this.refill();
    this.announce(apply(this.buffer.newest));
  }

  /** Stops following the index. */
  close(): void {
    for (const unsubscribe of this.subscriptions) unsubscribe();
    this.buffer.cancel();
    this.followers.clear();
    this.waiting.clear();
  }

  private get isStarted(): boolean {
    return this.loaded || this.buffer.isFilling;
  }

  private get maxAtOnce(): number {
    return this.options.maxAtOnce ?? MAX_AT_ONCE;
  }

  private observe(event: IndexEvent): void {
    const changes = this.pending;
    this.pending = [];
    this.seen = event.point;
    if (!event.reloaded) this.apply(event, changes);
    // The source is refilled then, and this table after it.
    else if (!this.options.source) this.refill();
  }

  private applySource(change: SourceChange): void {
    const { point } = this.options.index;
    if (!point || point !== this.seen) this.pending.push(change);
    else this.apply({ point, reloaded: false, changes: [] }, [change]);
  }

  private apply(event: IndexEvent, changes: readonly SourceChange[]): void {
    if (!this.isStarted) return;
    if (this.buffer.estimateCost(event, changes) > this.maxAtOnce) return this.refill();
    this.announce(this.buffer.apply(event, changes));
  }

  private *announcing(steps: Generator<undefined, boolean>): Generator<undefined> {
    if (!(yield* steps)) return;
    this.loaded = true;
    for (const follower of this.followers) follower.reload();
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }

  /** Changes of a table that is not served are not announced. */
  private announce(change: Change | undefined): void {
    if (change !== undefined && !this.buffer.isFilling) for (const follower of this.followers) follower.apply(change);
  }
}
