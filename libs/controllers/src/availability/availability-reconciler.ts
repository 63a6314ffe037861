import { MeshService } from '@causeway/kinds';
import { identityKey, jsonEqual, type Resource, type ResourceKey } from '@causeway/resources';
import type { IndexChange, IndexReader, PatchChange } from '@causeway/store';
import {
  asDataplane,
  dataplaneValues,
  findSelector,
  type DataplaneResource,
  type DataplaneSelector,
  type ServiceResource,
  InboundChange,
  SelectorMatcher,
  type SelectorTerm,
} from '@causeway/dataplanes';
import { changesWorkloadIds } from '@causeway/identity';
import { NO_KEYS, RESCAN, type KeyedReconciler, type Keys, type ReconcileResult } from '@causeway/loops';
import type { ProxyDirectory } from '../proxies/proxy-directory';
import { planAvailability, type AvailabilityFacts } from './plan-availability';
import { movesMeshAuthority, WorkloadIds } from './workload-ids';

/** Minimum time between two changes of a service's number of instances that other zones receive, ms. */
const REPORT_INTERVAL = 10_000;
/** Maximum number of Dataplanes that are counted while a user waits. */
const MAX_COUNTED_AT_ONCE = 1_000;

/**
 * Counts the Dataplanes of every MeshService made in this zone, generated or not, and writes whether the service is available and which SPIFFE ids
 * its Dataplanes have (docs/design.md §4 availability). A changed Dataplane makes the services stale that may select it; a changed MeshIdentity or
 * mesh authority makes all services stale.
 */
export class AvailabilityReconciler implements KeyedReconciler {
  readonly name = 'availability';
  private readonly matcher = new SelectorMatcher(dataplaneValues);
  private lookedAt: number | undefined;
  /** The time at which a service's number of instances was last sent to other zones, ms since 1970. */
  private readonly reportedAt = new Map<string, number>();

  /** `proxies`: reports which Dataplanes have a connected proxy; without it that is unknown. This loop applies the changes of the index to `ids`. */
  constructor(
    private readonly zone: string,
    private readonly proxies?: Pick<ProxyDirectory, 'isLoaded' | 'ofOwner' | 'changesSince'>,
    private readonly ids = new WorkloadIds(),
  ) {}

  get looksOutside(): boolean {
    return this.proxies !== undefined;
  }

  seed(index: IndexReader): Iterable<Keys> {
    this.matcher.clear();
    this.ids.reset(index);
    return this.walk(index);
  }

  listKeys(change: IndexChange, index: IndexReader): readonly (ResourceKey | typeof RESCAN)[] {
    const { id, key, before, after } = change;
    if (movesMeshAuthority(change) || changesWorkloadIds(change, this.zone)) return [RESCAN];
    if (id.zone !== this.zone) return NO_KEYS;
    if (id.kind === 'Dataplane') return this.keysOfDataplane(key, asDataplane(before), asDataplane(after), index);
    return id.kind === 'MeshService' ? this.keysOfService(key, index) : NO_KEYS;
  }

  private keysOfDataplane(
    key: ResourceKey,
    before: DataplaneResource | undefined,
    after: DataplaneResource | undefined,
    index: IndexReader,
  ): readonly ResourceKey[] {
    const services = this.matcher.setItem(key, before, after);
    const inbounds = InboundChange.of(before, after);
    // All services of a Dataplane get its ids, and with `Mesh.mtls` each inbound may add one.
    if (!inbounds || !before || !after || !jsonEqual(this.ids.listIds(before), this.ids.listIds(after)))
      return services;
    return services.filter((each) => {
      const service = asService(index.byIdentityKey(each));
      return !service || inbounds.concerns(service);
    });
  }

  outsideKeys(index: IndexReader): readonly (ResourceKey | typeof RESCAN)[] {
    if (!this.proxies?.isLoaded) return NO_KEYS;
    const { next, owners } = this.proxies.changesSince(this.lookedAt);
    this.lookedAt = next;
    if (owners === 'all') return [RESCAN];
    return owners.flatMap((key) => {
      const dataplane = asDataplane(index.byIdentityKey(key));
      return dataplane ? this.matcher.setItem(key, dataplane, dataplane) : NO_KEYS;
    });
  }

  reconcile(key: ResourceKey, index: IndexReader, now: number): ReconcileResult | undefined {
    const service = asService(index.byIdentityKey(key));
    if (!service) {
      this.reportedAt.delete(key);
      return undefined;
    }
    const { dataplanes, facts } = this.count(service, index);
    const change = planAvailability(service, dataplanes, facts);
    if (!change?.spec || change.spec['instances'] === service.spec.instances) return { change };
    const next = (this.reportedAt.get(key) ?? -Infinity) + REPORT_INTERVAL;
    if (now < next)
      return { change: planAvailability(service, dataplanes, { ...facts, keepsInstances: true }), dueAt: next };
    this.reportedAt.set(key, now);
    return { change };
  }

  /**
   * Counts the Dataplanes of a service that is about to be created in this zone; undefined where that takes a walk through many: a user waits for it,
   * and the loop counts them afterwards.
   */
  derivePatch(created: Resource, index: IndexReader): PatchChange | undefined {
    const service = created.id.zone === this.zone ? asService(created) : undefined;
    const selector = service && findSelector(service);
    if (!service || !this.matcher.isIndexed(selector?.terms ?? [])) return undefined;
    if (hasMore(this.matcher.candidates(selector?.terms ?? []), MAX_COUNTED_AT_ONCE)) return undefined;
    const { dataplanes, facts } = this.count(service, index);
    return planAvailability(service, dataplanes, facts);
  }

  private count(service: ServiceResource, index: IndexReader): CountedDataplanes {
    const dataplanes = [...this.listDataplanes(findSelector(service), index)];
    const uris = dataplanes.flatMap((dataplane) => this.ids.listIds(dataplane));
    return { dataplanes, facts: { uris, ...this.connections() } };
  }

  private connections(): Pick<AvailabilityFacts, 'isConnected'> {
    const { proxies } = this;
    if (!proxies?.isLoaded) return {};
    return { isConnected: ({ id }) => proxies.ofOwner(identityKey(id))?.connected === true };
  }

  private *walk(index: IndexReader): Generator<Keys> {
    for (const service of index.ofKind('MeshService')) {
      if (service.id.zone !== this.zone) {
        yield NO_KEYS;
        continue;
      }
      for (const _ of this.matcher.index(listTerms(service), () => this.allDataplanes(index))) yield NO_KEYS;
      yield this.keysOfService(identityKey(service.id), index);
    }
  }

  /** Reads the service from the index: it may have changed since the walk passed it. */
  private keysOfService(key: ResourceKey, index: IndexReader): Keys {
    this.matcher.setSelector(key, listTerms(index.byIdentityKey(key)), () => this.allDataplanes(index));
    return [key];
  }

  private *listDataplanes(selector: DataplaneSelector | undefined, index: IndexReader): Iterable<DataplaneResource> {
    if (!selector) return;
    for (const key of this.matcher.candidates(selector.terms)) {
      const dataplane = asDataplane(index.byIdentityKey(key));
      if (dataplane && selector.matches(dataplane)) yield dataplane;
    }
  }

  private *allDataplanes(index: IndexReader): Iterable<readonly [ResourceKey, DataplaneResource]> {
    for (const resource of index.ofKind('Dataplane')) {
      const dataplane = resource.id.zone === this.zone ? asDataplane(resource) : undefined;
      if (dataplane) yield [identityKey(dataplane.id), dataplane];
    }
  }
}

function hasMore(items: Iterable<unknown>, most: number): boolean {
  let count = 0;
  for (const _ of items) if (++count > most) return true;
  return false;
}

/** The Dataplanes of a service, and what is known of them. */
interface CountedDataplanes {
  readonly dataplanes: readonly DataplaneResource[];
  readonly facts: AvailabilityFacts;
}

function listTerms(resource: Resource | undefined): readonly SelectorTerm[] {
  const service = asService(resource);
  return (service && findSelector(service)?.terms) ?? [];
}

function asService(resource: Resource | undefined): ServiceResource | undefined {
  return resource && MeshService.is(resource) ? resource : undefined;
}
