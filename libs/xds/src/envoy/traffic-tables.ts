import type { DataplaneResource } from '@causeway/controllers';
import { MeshRoutes } from '@causeway/meshes';
import type { RouteTable } from '@causeway/routing';
import type { IndexEvent, IndexReader } from '@causeway/store';
import type { AccessSource } from '../model/inbound-access';
import { reselected } from '../model/inbound-services';
import type { DestinationChange, ModelChange } from '../model/model-change';
import { TrafficModel } from '../model/traffic-model';
import { BackendPolicies } from '../policies/backend-policies';
import type { EffectivePolicies, PolicySource } from '../policies/policy-source';
import type { HostSource } from '../resolution/dialled-hosts';
import { DestinationTable } from './destination-table';
import { ExplicitOutbounds } from './dataplane/explicit-outbounds';
import { ReachableBackends } from './dataplane/reachable-backends';
import { ServiceRoutes, type RouteChange } from './service-routes';

/** What a change of the index changed of what is derived from it. */
export interface TrafficChange extends ModelChange {
  readonly routes: readonly RouteChange[];
  /** Dataplanes whose inbounds may serve other services than before, though they are the same. */
  readonly reselected: Iterable<DataplaneResource>;
}

/** What tables are derived from besides the index. */
export interface TrafficSources {
  readonly policies: EffectivePolicies;
  readonly hosts: Pick<HostSource, 'resolve'>;
}

/** What is derived from one load of the index: the model, the tables of its destinations, and the routes to them. */
export class TrafficTables {
  readonly model: TrafficModel;
  readonly table = new DestinationTable();
  readonly backends = new ReachableBackends();
  readonly explicit: ExplicitOutbounds;
  readonly backendPolicies: BackendPolicies;
  readonly routes: ServiceRoutes;
  private readonly bound: MeshRoutes;

  constructor(
    readonly index: IndexReader,
    zone: string,
    access: AccessSource,
    { policies, hosts }: TrafficSources,
  ) {
    this.model = new TrafficModel(index, zone, access, { policies, hosts });
    this.bound = new MeshRoutes({ index, zone, meshes: access.meshes });
    this.routes = new ServiceRoutes(this.bound.table, this.model, policies);
    this.backendPolicies = new BackendPolicies(policies);
    this.explicit = new ExplicitOutbounds(this.backends, zone);
  }

  /** Derives everything, one service a step. Events between two steps are applied as later ones are. */
  *load(): Generator<undefined> {
    for (const changes of this.model.load()) {
      changes.forEach((change) => this.replace(change));
      yield;
    }
    yield* this.bound.load();
  }

  /** After the last step, and before anything is asked: what Dataplanes declare, as it is then. */
  finish(): void {
    for (const after of this.index.ofKind('Dataplane'))
      if (after.id.zone === this.model.zone) this.explicit.replace({ before: undefined, after });
  }

  /** What is bound to services of the zone's meshes. */
  get routeTable(): RouteTable {
    return this.bound.table;
  }

  /** How many services and routes an event makes `apply` compute anew. */
  costOf(event: IndexEvent): number {
    return Math.max(this.model.affected(event.changes), this.bound.costOf(event));
  }

  /** Applies an event of the index that is no new load. */
  apply(event: IndexEvent): TrafficChange {
    const change = this.took(this.model.apply(event));
    const routes = [...this.routes.changes(this.bound.apply(event))];
    return { ...change, routes, reselected: [...reselected(event.changes, this.model), ...change.restricted] };
  }

  /** What the model says that a change outside the index has changed. */
  took(change: ModelChange): TrafficChange {
    for (const each of change.destinations) this.replace(each);
    return { ...change, routes: [], reselected: [] };
  }

  private replace(change: DestinationChange): void {
    this.table.replace(change);
    this.backends.replace(change);
  }
}

/** Does all steps, then calls `done`: at once, or in slices so that the event loop is not held. */
export type Loading = (steps: Iterable<unknown>, done: () => void) => void;

export const atOnce: Loading = (steps, done) => {
  for (const _ of steps);
  done();
};

/** How much is done without giving the event loop back. */
export interface LoadOptions {
  /** How everything is derived from the index: at once, or in slices. */
  readonly load?: Loading;
  /** Where access changes for more services than this, everything is derived anew. */
  readonly mostAtOnce?: number;
  readonly policies?: PolicySource;
  /** Where hosts are reached; without it addresses are by the preset rules, and names have none. */
  readonly hosts?: HostSource;
}

/** The tables that are served from, and those that are being made of another load of the index. */
export class TrafficLoader {
  current: TrafficTables;
  loading: TrafficTables | undefined;
  private isLoaded = false;
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly make: () => TrafficTables,
    private readonly load: Loading,
  ) {
    this.current = make();
  }

  /** Whether the index was loaded once and everything is derived from it. */
  get hasLoaded(): boolean {
    return this.isLoaded;
  }

  /** Resolves when the index was loaded and everything is derived from it. */
  async whenLoaded(): Promise<void> {
    if (!this.isLoaded) await new Promise<void>((resolve) => this.waiting.add(resolve));
  }

  /**
   * Makes new tables; an earlier making is given up. `swapped` is called when they are the current ones, with those that were; it says
   * whether the index was loaded.
   */
  begin(swapped: (before: TrafficTables) => boolean): void {
    const next = this.make();
    this.loading = next;
    this.load(this.stepsOf(next), () => {
      if (this.loading !== next) return;
      next.finish();
      this.loading = undefined;
      const before = this.current;
      this.current = next;
      this.isLoaded = swapped(before);
      if (!this.isLoaded) return;
      for (const resolve of this.waiting) resolve();
      this.waiting.clear();
    });
  }

  private *stepsOf(next: TrafficTables): Generator<undefined> {
    for (const step of next.load()) {
      if (this.loading !== next) return;
      yield step;
    }
  }
}
