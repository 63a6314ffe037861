import {
  effectiveLabel,
  identityKey,
  jsonEqual,
  type Labels,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { SelectorMatcher, type SelectorTerm } from '@causeway/dataplanes';
import { NO_KEYS, type KeyedReconciler, type Keys, type ReconcileResult } from '@causeway/loops';
import { isMatched, planMultizone, requiredLabels } from './plan-multizone';

const MULTIZONE = 'MeshMultiZoneService';

/** Lists in every MeshMultiZoneService its member MeshServices in this zone's store (docs/design.md §4 multizone). */
export class MultizoneReconciler implements KeyedReconciler {
  readonly name = 'multizone';
  /** MeshServices by label. */
  private readonly matcher = new SelectorMatcher(labelValues);

  seed(index: IndexReader): Iterable<Keys> {
    this.matcher.clear();
    return this.walk(index);
  }

  listKeys({ id, key, before, after }: IndexChange, index: IndexReader): Keys {
    if (id.kind === MULTIZONE) return this.keysOfSelector(key, index);
    if (id.kind !== 'MeshService') return NO_KEYS;
    // A change of the status alone keeps the labels and queues nothing.
    return before && after && jsonEqual(before.labels, after.labels)
      ? NO_KEYS
      : this.matcher.setItem(key, before, after);
  }

  reconcile(key: ResourceKey, index: IndexReader, now: number): ReconcileResult | undefined {
    const service = index.byIdentityKey(key);
    return service && { change: planMultizone(service, this.listMatches(service, index), now) };
  }

  private *walk(index: IndexReader): Generator<Keys> {
    for (const service of index.ofKind(MULTIZONE)) {
      for (const _ of this.matcher.index(listTerms(service), () => allServices(index))) yield NO_KEYS;
      yield this.keysOfSelector(identityKey(service.id), index);
    }
  }

  /** Reads the selector from the index: it may have changed since the walk passed it. */
  private keysOfSelector(key: ResourceKey, index: IndexReader): Keys {
    this.matcher.setSelector(key, listTerms(index.byIdentityKey(key)), () => allServices(index));
    return [key];
  }

  private listMatches(service: Resource, index: IndexReader): readonly Resource[] {
    const required = requiredLabels(service);
    if (!required) return [];
    return [...this.matcher.candidates(termsFor(service, required))].flatMap((key) => {
      const candidate = index.byIdentityKey(key);
      return candidate && isMatched(service, required, candidate) ? [candidate] : [];
    });
  }
}

function listTerms(service: Resource | undefined): readonly SelectorTerm[] {
  const required = service && requiredLabels(service);
  return required ? termsFor(service, required) : [];
}

function termsFor({ id }: Resource, required: Labels): readonly SelectorTerm[] {
  return Object.entries(required).map(([key, value]) => ({ attribute: key, value: `${id.mesh}/${value}` }));
}

function labelValues(service: Resource, key: string): readonly string[] {
  const value = effectiveLabel(service, key);
  return value === undefined ? [] : [`${service.id.mesh}/${value}`];
}

function* allServices(index: IndexReader): Iterable<readonly [ResourceKey, Resource]> {
  for (const service of index.ofKind('MeshService')) yield [identityKey(service.id), service];
}
