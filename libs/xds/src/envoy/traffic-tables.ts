import { isDeepStrictEqual } from 'node:util';
import { bindingOf } from '@causeway/appmesh';
import { MeshRoutes } from '@causeway/meshes';
import { identityKey, type Identity, type Resource } from '@causeway/resources';
import type { RouteTable } from '@causeway/routing';
import type { IndexEvent, IndexReader } from '@causeway/store';
import type { AccessSource } from '../model/inbound-access';
import { reselected } from '../model/inbound-services';
import type { DestinationChange, ModelChange } from '../model/model-change';
import { TrafficModel } from '../model/traffic-model';
import { BackendPolicies } from '../policies/backend-policies';
import { effectiveIn, type PolicySource } from '../policies/policy-source';
import { RecordedReads } from '../reads/recorded-reads';
import type { HostSource } from '../resolution/dialled-hosts';
import { DestinationTable } from './destination-table';
import { ExplicitOutbounds } from './dataplane/explicit-outbounds';
import { ReachableBackends } from './dataplane/reachable-backends';
import type { MadeOf } from './made-resources';
import { ServiceRoutes } from './service-routes';

/** What tables are derived from besides the index. */
export interface TrafficSources {
  readonly policies: Pick<PolicySource, 'table' | 'isCurrent'>;
  readonly hosts: Pick<HostSource, 'resolve'>;
}

/** What is derived from one load of the index: the model, the tables of its destinations, and the routes to them. */
export class TrafficTables {
  /** What was made of these tables, by what of them it was made of. */
  readonly reads = new RecordedReads<MadeOf>();
  readonly model: TrafficModel;
  readonly table = new DestinationTable(this.reads);
  readonly backends = new ReachableBackends(this.reads);
  readonly explicit: ExplicitOutbounds;
  readonly backendPolicies: BackendPolicies;
  readonly routes: ServiceRoutes;
  private readonly bound: MeshRoutes;

  constructor(
    readonly index: IndexReader,
    zone: string,
    access: AccessSource,
    { policies: source, hosts }: TrafficSources,
  ) {
    const { reads } = this;
    const policies = effectiveIn(source, reads);
    this.model = new TrafficModel(index, zone, access, { policies, hosts, reads });
    this.bound = new MeshRoutes({ index, zone, meshes: access.meshes });
    this.routes = new ServiceRoutes(this.bound.table, this.model, policies, reads);
    this.backendPolicies = new BackendPolicies(policies);
    this.explicit = new ExplicitOutbounds(this.backends, zone, reads);
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
  apply(event: IndexEvent): ModelChange {
    const change = this.model.apply(event);
    this.took(change);
    this.routes.changed(this.bound.apply(event));
    for (const each of [...reselected(event.changes, this.model), ...change.restricted])
      this.reads.changed(`selecting ${identityKey(each.id)}`);
    return change;
  }

  /** Takes what the model says that has changed. */
  took({ destinations, dataplanes }: ModelChange): void {
    for (const each of destinations) {
      this.replace(each);
      this.explicit.destinationChanged(each);
    }
    for (const { key, before, after } of dataplanes) {
      this.explicit.replace({ before, after });
      if (!before || !after || !isSameToProxies(before, after)) this.reads.changed(`dataplane ${key}`);
    }
  }

  /** A Dataplane, for its own proxies. */
  dataplane(id: Identity | undefined): Resource | undefined {
    if (!id) return undefined;
    const key = identityKey(id);
    this.reads.readOwn(`dataplane ${key}`);
    return this.index.byIdentityKey(key);
  }

  private replace(change: DestinationChange): void {
    this.table.replace(change);
    this.backends.replace(change);
  }
}

/** Whether two states of a Dataplane are the same to its proxies: of its status they know its VirtualNode alone. */
function isSameToProxies(a: Resource, b: Resource): boolean {
  return isDeepStrictEqual([a.spec, a.labels, bindingOf(a)], [b.spec, b.labels, bindingOf(b)]);
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
