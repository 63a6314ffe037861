import { isDeepStrictEqual } from 'node:util';
import { readBinding } from '@causeway/appmesh';
import type { FollowedRoutes } from '@causeway/meshes';
import { identityKey, type Identity, type Resource, type StorePoint } from '@causeway/resources';
import type { ChangeSet } from '@causeway/routing';
import type { Derivation, IndexEvent, IndexReader } from '@causeway/store';
import type { AccessSource } from '../access/inbound-access';
import { reselected } from '../access/inbound-services';
import type { DestinationChange, ModelChange } from '../model/model-change';
import { TrafficModel } from './traffic-model';
import { BackendPolicies } from '../policies/backend-policies';
import { effectiveIn, type PolicySource } from './policy-source';
import { RecordedReads } from '../reads/recorded-reads';
import type { HostSource } from '../resolution/dialled-hosts';
import { DestinationTable } from './destination-table';
import { ExplicitOutbounds } from '../dataplane/explicit-outbounds';
import { ReachableBackends } from '../dataplane/reachable-backends';
import type { BuildTarget } from '../views/build-targets';
import { ServiceBindings } from './service-bindings';

/** The effect of a change on the tables; `point`: the position of the index after it, set for a change of the index. */
export interface TrafficChange {
  readonly destinations: readonly DestinationChange[];
  readonly point?: StorePoint;
}

/** Inputs of the tables besides the index. */
export interface TrafficSources {
  /** Routes bound to services of the zone's meshes. */
  readonly routes: Pick<FollowedRoutes, 'table'>;
  readonly policies: Pick<PolicySource, 'table' | 'isCurrent'>;
  readonly hosts: Pick<HostSource, 'resolve'>;
}

/** Tables derived from one load of the index: the model, its destinations, and the routes to them. */
export class TrafficTables {
  /** The recorded reads of build targets in these tables. */
  readonly reads = new RecordedReads<BuildTarget>();
  readonly model: TrafficModel;
  readonly table = new DestinationTable(this.reads);
  readonly backends = new ReachableBackends(this.reads);
  readonly explicit: ExplicitOutbounds;
  readonly backendPolicies: BackendPolicies;
  readonly routes: ServiceBindings;

  constructor(
    readonly index: IndexReader,
    zone: string,
    access: AccessSource,
    { routes, policies: source, hosts }: TrafficSources,
  ) {
    const { reads } = this;
    const policies = effectiveIn(source, reads);
    this.model = new TrafficModel(index, zone, access, { policies, hosts, reads });
    this.routes = new ServiceBindings(routes.table, this.model, policies, reads);
    this.backendPolicies = new BackendPolicies(policies);
    this.explicit = new ExplicitOutbounds(this.backends, zone, reads);
  }

  /** Derives everything, one service a step. Events between two steps are applied like later ones. */
  *load(): Generator<undefined> {
    for (const changes of this.model.load()) {
      changes.forEach((change) => this.replace(change));
      yield;
    }
    this.finish();
  }

  /** Runs after the last step and before the first read: indexes the backends that Dataplanes declare at that time. */
  private finish(): void {
    for (const after of this.index.ofKind('Dataplane'))
      if (after.id.zone === this.model.zone) this.explicit.replace({ before: undefined, after });
  }

  /** Applies an event of the index that is not a reload, and its changes of routes. */
  apply(event: IndexEvent, routes: readonly ChangeSet[]): TrafficChange {
    const change = this.model.apply(event);
    this.took(change);
    for (const each of routes) this.routes.changed(each);
    for (const each of [...reselected(event.changes, this.model), ...change.restricted])
      this.reads.changed(`selecting ${identityKey(each.id)}`);
    return { destinations: change.destinations, point: event.point };
  }

  /** Applies the changes that the model reports. */
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

  /** Returns a Dataplane, for its own proxies. */
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

/** Reports whether two states of a Dataplane are the same to its proxies: of its status they depend on the VirtualNode only. */
function isSameToProxies(a: Resource, b: Resource): boolean {
  return isDeepStrictEqual([a.spec, a.labels, readBinding(a)], [b.spec, b.labels, readBinding(b)]);
}

/** Inputs of a zone's tables besides its index. */
export interface TrafficDerivationOptions extends TrafficSources {
  readonly index: IndexReader;
  readonly zone: string;
  readonly access: AccessSource;
}

/** Returns the derivation of the tables from the index, and from the routes that are bound to services. */
export function trafficDerivation(
  options: TrafficDerivationOptions,
): Derivation<TrafficTables, TrafficChange, ChangeSet> {
  const { index, zone, access, ...sources } = options;
  return {
    empty: () => new TrafficTables(index, zone, access, sources),
    fill: (tables) => tables.load(),
    apply: (tables, event, routes) => tables.apply(event, routes),
    estimateCost: (tables, event) => tables.model.affected(event.changes),
  };
}
