import { compareText, identityKey, jsonEqual, type Resource } from '@causeway/resources';
import { Dataplane, MeshService } from '@causeway/kinds';
import { SlicedWork } from '@causeway/runtime';
import type { Change, IndexChange, IndexEvent, IndexReader, WriteResult } from '@causeway/store';
import { AttributeIndex, type SelectorTerm } from '../matching/attribute-index';
import {
  dataplaneValues,
  selectorOf,
  type DataplaneResource,
  type DataplaneSelector,
  type ServiceResource,
} from '../matching/dataplane-selector';
import { SelectorIndex } from '../matching/selector-index';
import type { ControlLoop, LoopPlan } from '../runner/control-loop';
import { planBatch, refusedKeys, WorkQueue } from '../reconcile/work-queue';
import { countProxies, stateOf } from './count-proxies';

/** Changes in one plan. */
const BATCH = 500;

/**
 * Counts the Dataplanes of every service made in this zone, generated or written by hand, and says whether it is
 * available (design.md §4 availability). A Dataplane that changes touches the services that may select it, found by
 * what it carries.
 */
export class AvailabilityReconciler implements ControlLoop {
  readonly name = 'availability';
  private readonly stale = new WorkQueue(compareText);
  private readonly dataplanes = new AttributeIndex(dataplaneValues);
  private readonly services = new SelectorIndex();
  private readonly gathering = new SlicedWork();
  private index: IndexReader | undefined;

  constructor(private readonly zone: string) {}

  reset(index: IndexReader): void {
    this.index = index;
    this.stale.clear();
    this.dataplanes.clear();
    this.services.clear();
    this.gathering.begin(this.gather(index));
  }

  observe(event: IndexEvent): void {
    for (const change of event.changes) {
      if (change.id.zone !== this.zone) continue;
      if (change.id.kind === 'Dataplane') this.observeDataplane(change);
      else if (change.id.kind === 'MeshService') this.observeService(change.key);
    }
  }

  plan(): LoopPlan | undefined {
    if (!this.gathering.advance()) return { changes: [], more: true };
    return planBatch(this.stale, { changes: BATCH }, (key) => this.decide(key));
  }

  onWritten(changes: readonly Change[], result: WriteResult): void {
    for (const key of refusedKeys(changes, result)) this.stale.add(key);
  }

  /** One row a step; nothing is counted before all are in. */
  private *gather(index: IndexReader): Generator<unknown> {
    for (const service of index.ofKind('MeshService')) {
      if (service.id.zone === this.zone) {
        yield* this.dataplanes.ensureStepwise(termsOf(service), () => this.allDataplanes());
        this.observeService(identityKey(service.id));
      }
      yield;
    }
  }

  private decide(key: string): Change | undefined {
    const service = this.serviceOf(key);
    if (!service) return undefined;
    const { id, revision, spec, status } = service;
    const selector = selectorOf(service);
    const count = countProxies(spec.ports ?? [], selector ? this.matchesOf(selector) : []);
    const state = stateOf(count);
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

  private *matchesOf({ terms, matches }: DataplaneSelector): Iterable<DataplaneResource> {
    for (const key of this.dataplanes.candidates(terms)) {
      const dataplane = asDataplane(this.index?.byIdentityKey(key));
      if (dataplane && matches(dataplane)) yield dataplane;
    }
  }

  private observeDataplane({ key, ...change }: IndexChange): void {
    const [before, after] = [asDataplane(change.before), asDataplane(change.after)];
    this.dataplanes.replace(key, before, after);
    for (const dataplane of [before, after]) {
      for (const term of dataplane ? this.dataplanes.termsOf(dataplane) : []) {
        for (const service of this.services.idsFor(term)) this.stale.add(service);
      }
    }
  }

  private observeService(key: string): void {
    const service = this.serviceOf(key);
    const terms = service ? termsOf(service) : [];
    this.dataplanes.ensure(terms, () => this.allDataplanes());
    this.services.put(key, terms);
    this.stale.add(key);
  }

  private *allDataplanes(): Iterable<readonly [string, DataplaneResource]> {
    for (const resource of this.index?.ofKind('Dataplane') ?? []) {
      const dataplane = resource.id.zone === this.zone ? asDataplane(resource) : undefined;
      if (dataplane) yield [identityKey(dataplane.id), dataplane];
    }
  }

  private serviceOf(key: string): ServiceResource | undefined {
    const resource = this.index?.byIdentityKey(key);
    return resource && MeshService.is(resource) ? resource : undefined;
  }
}

function termsOf(service: Resource): readonly SelectorTerm[] {
  return (MeshService.is(service) ? selectorOf(service)?.terms : undefined) ?? [];
}

function asDataplane(resource: Resource | undefined): DataplaneResource | undefined {
  return resource && Dataplane.is(resource) ? resource : undefined;
}
