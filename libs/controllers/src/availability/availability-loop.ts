import { compareText, identityKey, jsonEqual } from '@causeway/resources';
import { Dataplane, MeshService } from '@causeway/kinds';
import type { Change, IndexEvent, ResourceIndex, WriteResult } from '@causeway/store';
import {
  pairsOfDataplane,
  selectorOf,
  type DataplaneResource,
  type DataplaneSelector,
  type ServiceResource,
} from '../matching/dataplane-match';
import { PairIndex } from '../matching/pair-index';
import type { ControlLoop, LoopPlan } from '../runner/control-loop';
import { refusedKeys, StaleKeys } from '../runner/stale-keys';
import { countProxies } from './count-proxies';

/** Changes in one plan. */
const BATCH = 500;

/**
 * Counts the Dataplanes of every service made in this zone, generated or written by hand, and says whether it is
 * available (design.md §4 availability). A Dataplane that changes touches the services that may select it, found by
 * what it carries.
 */
export class AvailabilityLoop implements ControlLoop {
  readonly name = 'availability';
  private readonly stale = new StaleKeys(compareText);
  /** Dataplanes by everything they carry. */
  private readonly dataplanes = new PairIndex();
  /** Services by one pair of their selector. */
  private readonly services = new PairIndex();
  private index: ResourceIndex | undefined;

  constructor(private readonly zone: string) {}

  reset(index: ResourceIndex): void {
    this.index = index;
    this.stale.clear();
    this.dataplanes.clear();
    this.services.clear();
    for (const { id } of index.ofKind('Dataplane')) if (id.zone === this.zone) this.observeDataplane(identityKey(id));
    for (const { id } of index.ofKind('MeshService')) if (id.zone === this.zone) this.observeService(identityKey(id));
  }

  observe(event: IndexEvent): void {
    for (const { id, key } of event.changes) {
      if (id.zone !== this.zone) continue;
      if (id.kind === 'Dataplane') this.observeDataplane(key);
      else if (id.kind === 'MeshService') this.observeService(key);
    }
  }

  plan(): LoopPlan | undefined {
    const changes: Change[] = [];
    for (let key = this.stale.take(); key !== undefined; key = this.stale.take()) {
      const change = this.decide(key);
      if (change) changes.push(change);
      if (changes.length === BATCH) break;
    }
    return { changes };
  }

  settled(changes: readonly Change[], result: WriteResult): void {
    for (const key of refusedKeys(changes, result)) this.stale.add(key);
  }

  private decide(key: string): Change | undefined {
    const service = this.serviceOf(key);
    if (!service) return undefined;
    const { id, revision, spec, status } = service;
    const selector = selectorOf(service);
    const count = countProxies(service, selector ? this.matchesOf(selector) : []);
    const state = count.healthy > 0 ? 'Available' : 'Unavailable';
    const counted = jsonEqual(status?.['dataplaneProxies'], count);
    if (counted && spec.state === state) return undefined;
    return {
      type: 'patch',
      id,
      expect: revision,
      ...(counted ? {} : { status: { ...status, dataplaneProxies: count } }),
      ...(spec.state === state ? {} : { spec: { ...spec, state } }),
    };
  }

  private *matchesOf({ pairs, matches }: DataplaneSelector): Iterable<DataplaneResource> {
    const rarest = this.dataplanes.rarest(pairs);
    if (rarest === undefined) return;
    for (const key of this.dataplanes.carriersOf(rarest)) {
      const dataplane = this.dataplaneOf(key);
      if (dataplane && matches(dataplane)) yield dataplane;
    }
  }

  private observeDataplane(key: string): void {
    const before = this.dataplanes.of(key);
    const dataplane = this.dataplaneOf(key);
    const after = dataplane ? pairsOfDataplane(dataplane) : [];
    this.dataplanes.put(key, after);
    for (const pair of [...before, ...after]) {
      for (const service of this.services.carriersOf(pair)) this.stale.add(service);
    }
  }

  private observeService(key: string): void {
    const service = this.serviceOf(key);
    const selector = service && selectorOf(service);
    // The pair that fewest services look for: a change of a Dataplane then wakes few in vain.
    const pair = selector && this.services.rarest(selector.pairs);
    this.services.put(key, pair === undefined ? [] : [pair]);
    this.stale.add(key);
  }

  private serviceOf(key: string): ServiceResource | undefined {
    const resource = this.index?.byIdentityKey(key);
    return resource && MeshService.is(resource) ? resource : undefined;
  }

  private dataplaneOf(key: string): DataplaneResource | undefined {
    const resource = this.index?.byIdentityKey(key);
    return resource && Dataplane.is(resource) ? resource : undefined;
  }
}
