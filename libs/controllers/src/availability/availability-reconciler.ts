import { Dataplane, MeshService } from '@causeway/kinds';
import { identityKey, type Resource } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import {
  dataplaneValues,
  selectorOf,
  type DataplaneResource,
  type DataplaneSelector,
  type ServiceResource,
} from '../matching/dataplane-selector';
import { SelectorMatcher, type SelectorTerm } from '../matching/selector-matcher';
import { NO_KEYS, type KeyedReconciler, type Keys, type ReconcileResult } from '../reconcile/keyed-reconciler';
import { planAvailability } from './plan-availability';

/**
 * Counts the Dataplanes of every MeshService made in this zone, generated or written by hand, and says whether the
 * service is available (docs/design.md §4 availability). A Dataplane that changes makes the services stale that may select it.
 */
export class AvailabilityReconciler implements KeyedReconciler {
  readonly name = 'availability';
  private readonly matcher = new SelectorMatcher(dataplaneValues);

  constructor(private readonly zone: string) {}

  seed(index: IndexReader): Iterable<Keys> {
    this.matcher.clear();
    return this.walk(index);
  }

  keysOf({ id, key, before, after }: IndexChange, index: IndexReader): Keys {
    if (id.zone !== this.zone) return NO_KEYS;
    if (id.kind === 'Dataplane') return this.matcher.setItem(key, asDataplane(before), asDataplane(after));
    return id.kind === 'MeshService' ? this.keysOfService(key, index) : NO_KEYS;
  }

  reconcile(key: string, index: IndexReader): ReconcileResult | undefined {
    const service = asService(index.byIdentityKey(key));
    return service && { change: planAvailability(service, this.dataplanesOf(selectorOf(service), index)) };
  }

  private *walk(index: IndexReader): Generator<Keys> {
    for (const service of index.ofKind('MeshService')) {
      if (service.id.zone !== this.zone) {
        yield NO_KEYS;
        continue;
      }
      for (const _ of this.matcher.index(termsOf(service), () => this.allDataplanes(index))) yield NO_KEYS;
      yield this.keysOfService(identityKey(service.id), index);
    }
  }

  /** Reads the service from the index: it may have changed since the walk met it. */
  private keysOfService(key: string, index: IndexReader): Keys {
    this.matcher.setSelector(key, termsOf(index.byIdentityKey(key)), () => this.allDataplanes(index));
    return [key];
  }

  private *dataplanesOf(selector: DataplaneSelector | undefined, index: IndexReader): Iterable<DataplaneResource> {
    if (!selector) return;
    for (const key of this.matcher.candidates(selector.terms)) {
      const dataplane = asDataplane(index.byIdentityKey(key));
      if (dataplane && selector.matches(dataplane)) yield dataplane;
    }
  }

  private *allDataplanes(index: IndexReader): Iterable<readonly [string, DataplaneResource]> {
    for (const resource of index.ofKind('Dataplane')) {
      const dataplane = resource.id.zone === this.zone ? asDataplane(resource) : undefined;
      if (dataplane) yield [identityKey(dataplane.id), dataplane];
    }
  }
}

function termsOf(resource: Resource | undefined): readonly SelectorTerm[] {
  const service = asService(resource);
  return (service && selectorOf(service)?.terms) ?? [];
}

function asService(resource: Resource | undefined): ServiceResource | undefined {
  return resource && MeshService.is(resource) ? resource : undefined;
}

function asDataplane(resource: Resource | undefined): DataplaneResource | undefined {
  return resource && Dataplane.is(resource) ? resource : undefined;
}
