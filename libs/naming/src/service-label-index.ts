import { effectiveLabel } from '@causeway/resources';
import type { Claimant } from './claim';
import { hasLabels, type RequiredLabel } from './parsed-generator';

type ServiceBucket = Claimant | Set<Claimant>;

interface KeyIndex {
  users: number;
  readonly byValue: Map<string, ServiceBucket>;
}

/**
 * The services of one kind by label. Only the label keys in generators' selectors are indexed: the first use of a key
 * costs one pass over the services, every later use only the matching services.
 */
export class ServiceLabelIndex {
  private readonly all = new Set<Claimant>();
  private readonly byKey = new Map<string, KeyIndex>();

  services(): Iterable<Claimant> {
    return this.all;
  }

  add(service: Claimant): void {
    this.all.add(service);
    for (const [key, index] of this.byKey) insert(index, effectiveLabel(service, key), service);
  }

  /** Must be called before the labels of the service are replaced, because it is found by its old labels. */
  remove(service: Claimant): void {
    this.all.delete(service);
    for (const [key, index] of this.byKey) extract(index, effectiveLabel(service, key), service);
  }

  /** Keeps an index of these label keys until `release`. */
  retain(required: readonly RequiredLabel[]): void {
    for (const { key } of required) {
      const index = this.byKey.get(key) ?? this.build(key);
      index.users += 1;
    }
  }

  release(required: readonly RequiredLabel[]): void {
    for (const { key } of required) {
      const index = this.byKey.get(key);
      if (index && --index.users === 0) this.byKey.delete(key);
    }
  }

  /** Returns the services that have all required labels; reads only those with the rarest one. */
  *select(required: readonly RequiredLabel[]): Iterable<Claimant> {
    for (const service of this.narrowest(required)) if (hasLabels(required, service)) yield service;
  }

  private narrowest(required: readonly RequiredLabel[]): Iterable<Claimant> {
    let best: ReadonlySet<Claimant> = this.all;
    for (const { key, value } of required) {
      const index = this.byKey.get(key);
      if (!index) continue;
      const bucket = index.byValue.get(value);
      if (bucket === undefined) return [];
      if (!(bucket instanceof Set)) return [bucket];
      if (bucket.size < best.size) best = bucket;
    }
    return best;
  }

  private build(key: string): KeyIndex {
    const index: KeyIndex = { users: 0, byValue: new Map() };
    this.byKey.set(key, index);
    for (const service of this.all) insert(index, effectiveLabel(service, key), service);
    return index;
  }
}

function insert(index: KeyIndex, value: string | undefined, service: Claimant): void {
  if (value === undefined) return;
  const bucket = index.byValue.get(value);
  if (bucket === undefined) index.byValue.set(value, service);
  else if (bucket instanceof Set) bucket.add(service);
  else index.byValue.set(value, new Set([bucket, service]));
}

function extract(index: KeyIndex, value: string | undefined, service: Claimant): void {
  if (value === undefined) return;
  const bucket = index.byValue.get(value);
  if (bucket instanceof Set) {
    bucket.delete(service);
    if (bucket.size === 0) index.byValue.delete(value);
  } else if (bucket === service) index.byValue.delete(value);
}
