import type { Affected, RouteTable } from '@causeway/routing';
import type { IndexEvent, IndexReader } from '@causeway/store';
import { MeshRoutes, type MeshRoutesOptions } from './mesh-routes';

/** What listeners are told once the table holds it: what a change may have changed, or that everything was derived anew. */
export type RoutesChange = Affected | 'reloaded';

/** Does all steps, then calls `done`: at once, or in slices so that the event loop is not held. */
export type StepsRunner = (steps: Iterable<unknown>, done: () => void) => void;

/** What routes are followed in. */
export interface FollowedRoutesOptions extends Omit<MeshRoutesOptions, 'index'> {
  readonly index: IndexReader;
  /** How everything is derived from the index. */
  readonly run: StepsRunner;
  /** An event that makes more resources be read than this is applied in steps. */
  readonly mostAtOnce?: number;
}

const MOST_AT_ONCE = 1_000;

/**
 * The one table of routes of a process, kept equal to the index until `close`. While everything is derived anew, the table stays as
 * it was. It follows the index from the moment it is made: make it before those who follow the index and read it.
 */
export class FollowedRoutes {
  private current: MeshRoutes;
  private loading: MeshRoutes | undefined;
  private loaded = false;
  private readonly waiting = new Set<() => void>();
  private readonly listeners = new Set<(change: RoutesChange) => void>();
  private readonly unsubscribe: () => void;

  constructor(private readonly options: FollowedRoutesOptions) {
    this.current = new MeshRoutes(options);
    this.unsubscribe = options.index.subscribe((event) => this.observe(event));
    if (options.index.point) this.begin();
  }

  /** The table as it is now: another one after a reload. Empty before the first load. */
  get table(): RouteTable {
    return this.current.table;
  }

  /** Whether the index was loaded once and everything is derived from it. */
  get hasLoaded(): boolean {
    return this.loaded;
  }

  /** Whether the table holds all that the index does: not before the first load, nor while everything is derived anew. */
  get isCurrent(): boolean {
    return this.hasLoaded && !this.loading;
  }

  /** Resolves when the index was loaded and everything is derived from it. Never, where `close` comes first. */
  async whenLoaded(): Promise<void> {
    if (!this.loaded) await new Promise<void>((resolve) => this.waiting.add(resolve));
  }

  /** Calls `listener` after each change, until the returned function is called. Listeners must be quick and not throw. */
  subscribe(listener: (change: RoutesChange) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Stops following the index. */
  close(): void {
    this.unsubscribe();
    this.loading = undefined;
    this.listeners.clear();
    this.waiting.clear();
  }

  private observe(event: IndexEvent): void {
    if (event.reloaded) return this.begin();
    const next = this.loading ?? this.current;
    if (next.costOf(event) > (this.options.mostAtOnce ?? MOST_AT_ONCE)) return this.begin();
    const affected = next.apply(event);
    const { groups, routes, frontends } = affected;
    if (next !== this.current || groups.length + routes.length + frontends.length === 0) return;
    this.tell(affected);
  }

  private begin(): void {
    const next = new MeshRoutes(this.options);
    this.loading = next;
    this.options.run(this.stepsOf(next), () => {
      if (this.loading !== next) return;
      this.loading = undefined;
      this.current = next;
      this.loaded = true;
      this.tell('reloaded');
      for (const resolve of this.waiting) resolve();
      this.waiting.clear();
    });
  }

  /** Ends early where another load has begun. */
  private *stepsOf(next: MeshRoutes): Generator<undefined> {
    for (const step of next.load()) {
      if (this.loading !== next) return;
      yield step;
    }
  }

  private tell(change: RoutesChange): void {
    for (const listener of this.listeners) listener(change);
  }
}
