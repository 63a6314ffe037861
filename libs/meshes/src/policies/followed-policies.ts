import type { PoliciesAffected, PolicyTable } from '@causeway/policies';
import type { IndexEvent, IndexReader } from '@causeway/store';
import type { FollowedRoutes, RoutesChange, StepsRunner } from '../routes/followed-routes';
import { MeshPolicies, type MeshPoliciesOptions } from './mesh-policies';

/** What listeners are told once the table holds it: what a change may have changed, or that everything was derived anew. */
export type PoliciesChange = PoliciesAffected | 'reloaded';

/** What policies are followed in. */
export interface FollowedPoliciesOptions extends Omit<MeshPoliciesOptions, 'index'> {
  readonly index: IndexReader;
  /** It is told of changes before these policies are: it was made before them. */
  readonly routes: FollowedRoutes;
  /** How everything is derived from the index. */
  readonly run: StepsRunner;
  /** An event of more changes than this, or a change of routes with twice as many, is applied by deriving everything anew, in steps. */
  readonly mostAtOnce?: number;
}

const MOST_AT_ONCE = 1_000;

/**
 * The one table of policies of a process, kept equal to the index and the routes until `close`. While everything is derived anew, the
 * table stays as it was. It is derived for the first time once the routes are.
 */
export class FollowedPolicies {
  private current: MeshPolicies;
  private loading: MeshPolicies | undefined;
  private loaded = false;
  private readonly waiting = new Set<() => void>();
  private readonly listeners = new Set<(change: PoliciesChange) => void>();
  private readonly subscriptions: readonly (() => void)[];

  constructor(private readonly options: FollowedPoliciesOptions) {
    const { index, routes } = options;
    this.current = new MeshPolicies(options, routes.table);
    this.subscriptions = [
      routes.subscribe((change) => this.routesChanged(change)),
      index.subscribe((event) => this.observe(event)),
    ];
    if (routes.hasLoaded) this.begin();
  }

  /** The table as it is now: another one after a reload. Empty before the first load. */
  get table(): PolicyTable {
    return this.current.table;
  }

  /** Whether index and routes were loaded once and everything is derived from them. */
  get hasLoaded(): boolean {
    return this.loaded;
  }

  /** Whether the table holds all that the index does: not before the first load, nor while it or the routes are derived anew. */
  get isCurrent(): boolean {
    return this.loaded && !this.loading && this.options.routes.isCurrent;
  }

  /** Resolves when index and routes were loaded and everything is derived from them. Never, where `close` comes first. */
  async whenLoaded(): Promise<void> {
    if (!this.loaded) await new Promise<void>((resolve) => this.waiting.add(resolve));
  }

  /** Calls `listener` after each change, until the returned function is called. Listeners must be quick and not throw. */
  subscribe(listener: (change: PoliciesChange) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Stops following the index and the routes. */
  close(): void {
    for (const unsubscribe of this.subscriptions) unsubscribe();
    this.loading = undefined;
    this.listeners.clear();
    this.waiting.clear();
  }

  private routesChanged(change: RoutesChange): void {
    if (change === 'reloaded') return this.begin();
    const { groups, frontends } = change;
    if (groups.length + frontends.length > 2 * this.most) return this.begin();
    this.change((policies) => policies.table.routesChanged(change));
  }

  private observe(event: IndexEvent): void {
    // The routes are derived anew then, and these after them.
    if (event.reloaded || !(this.loading ?? this.loaded)) return;
    const next = this.loading ?? this.current;
    if (next.isTooMuch(event, this.most)) return this.begin();
    this.change((policies) => policies.apply(event));
  }

  private get most(): number {
    return this.options.mostAtOnce ?? MOST_AT_ONCE;
  }

  private change(apply: (policies: MeshPolicies) => PoliciesAffected): void {
    const next = this.loading ?? this.current;
    const affected = apply(next);
    const { rules, backends, meshes, policies } = affected;
    const touched = rules.length + backends.length + meshes.length + policies.length;
    if (next === this.current && touched > 0) this.tell(affected);
  }

  private begin(): void {
    const next = new MeshPolicies(this.options, this.options.routes.table);
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
  private *stepsOf(next: MeshPolicies): Generator<undefined> {
    for (const step of next.load()) {
      if (this.loading !== next) return;
      yield step;
    }
  }

  private tell(change: PoliciesChange): void {
    for (const listener of this.listeners) listener(change);
  }
}
