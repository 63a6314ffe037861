import { inTimedSlices, yieldToEventLoop, type Clock } from '@causeway/runtime';
import type { ListingChange, ResourceChange, ResourceSource, SourceListener } from './resource-source';
import type { Subscription } from './subscription';

/** A stream from the point of view of the subscriber index. */
export interface Subscriber<V> {
  readonly proxyId: string;
  readonly view: V;
  /** Reports that the status of the proxy may have changed. */
  moved(): void;
  /**
   * Sends all pending changes, and returns whether there were any; called once for any number of marks. Never throws: a failure ends the stream
   * itself.
   */
  pump(): boolean;
}

interface SubscriptionEntry<V> {
  readonly subscriber: Subscriber<V>;
  readonly subscription: Subscription;
}

/** Average interval between rounds in which changes are sent, ms, while changes continue: the changes of a round share responses and acks. */
const ROUND_INTERVAL = 20;
/** After a pause, rounds run without delay for this budget, ms: a new service gets its address and hostname without a wait. */
const ROUND_BURST = 5 * ROUND_INTERVAL;

/** The subscriptions of all streams, indexed by name: a change costs its names × their subscribers, and the wildcards that it may affect. */
export class Subscribers<V> implements SourceListener<V> {
  private readonly byName = new Map<string, Map<string, Set<SubscriptionEntry<V>>>>();
  /** By type and view: wildcard subscriptions whose lists depend on more than changes of the view. */
  private readonly wildcards = new Map<string, Map<V, Set<SubscriptionEntry<V>>>>();
  private readonly byView = new Map<V, Set<SubscriptionEntry<V>>>();
  private readonly byProxy = new Map<string, Set<SubscriptionEntry<V>>>();
  private readonly byGroup = new Map<string, Set<SubscriptionEntry<V>>>();
  private readonly due = new Set<Subscriber<V>>();
  private isPumping = false;
  /** The time up to which rounds are used up, if they are an interval apart, by `Clock.elapsed`. */
  private spacedUntil = 0;
  private hasSent = false;

  constructor(
    private readonly clock: Pick<Clock, 'elapsed' | 'sleep'>,
    private readonly source: Pick<ResourceSource<V>, 'findGroup' | 'listsOwn' | 'takeRelisted' | 'released'> = {},
  ) {}

  /** Adds a subscription of a stream; its names are added by `named` and `wildcard`. */
  add(subscriber: Subscriber<V>, subscription: Subscription): SubscriptionEntry<V> {
    const entry = { subscriber, subscription };
    setIn(this.byProxy, subscriber.proxyId).add(entry);
    setIn(this.byView, subscriber.view).add(entry);
    const group = this.source.findGroup?.(subscriber.view);
    if (group !== undefined) setIn(this.byGroup, group).add(entry);
    return entry;
  }

  named(entry: SubscriptionEntry<V>, names: Iterable<string>): void {
    for (const name of names) setIn(mapIn(this.byName, entry.subscription.type), name).add(entry);
  }

  unnamed(entry: SubscriptionEntry<V>, names: Iterable<string>): void {
    const { type } = entry.subscription;
    const ofType = this.byName.get(type);
    for (const name of names) {
      const entries = ofType?.get(name);
      if (entries?.delete(entry) !== true || entries.size > 0) continue;
      ofType?.delete(name);
      this.source.released?.(type, name);
    }
    if (ofType?.size === 0) this.byName.delete(type);
  }

  wildcard(entry: SubscriptionEntry<V>, on: boolean): void {
    const { type } = entry.subscription;
    const { view } = entry.subscriber;
    if (on && this.source.listsOwn?.(view) !== true) return void setIn(mapIn(this.wildcards, type), view).add(entry);
    const views = this.wildcards.get(type);
    if (views) deleteIn(views, view, entry);
    if (views?.size === 0) this.wildcards.delete(type);
  }

  remove(entry: SubscriptionEntry<V>): void {
    this.unnamed(entry, entry.subscription.named);
    this.wildcard(entry, false);
    deleteIn(this.byProxy, entry.subscriber.proxyId, entry);
    deleteIn(this.byView, entry.subscriber.view, entry);
    const group = this.source.findGroup?.(entry.subscriber.view);
    if (group !== undefined) deleteIn(this.byGroup, group, entry);
    this.due.delete(entry.subscriber);
  }

  changed({ revision, type, names, view, group }: ResourceChange<V>): void {
    if (group !== undefined) {
      for (const entry of this.byGroup.get(group) ?? []) {
        if (entry.subscription.type !== type) continue;
        for (const name of names) if (entry.subscription.concerns(name)) this.mark(entry, name, revision, view);
      }
      return;
    }
    const ofType = this.byName.get(type);
    const wildcards = [...(this.wildcards.get(type)?.values() ?? [])];
    for (const name of names) {
      for (const entry of ofType?.get(name) ?? []) this.mark(entry, name, revision, view);
      for (const entries of wildcards)
        for (const entry of entries) if (entry.subscription.concerns(name)) this.mark(entry, name, revision, view);
    }
  }

  relisted({ revision, view }: ListingChange<V>): void {
    if (view !== undefined) {
      const byType = new Map<string, Set<SubscriptionEntry<V>>>();
      for (const entry of this.byView.get(view) ?? []) {
        const { type, isWildcard } = entry.subscription;
        this.wildcard(entry, isWildcard);
        if (isWildcard) setIn(byType, type).add(entry);
      }
      for (const [type, entries] of byType) this.relist(view, { type, entries, revision });
      return;
    }
    for (const [type, views] of this.wildcards)
      for (const [each, entries] of views) this.relist(each, { type, entries, revision });
  }

  private relist(
    view: V,
    {
      type,
      entries,
      revision,
    }: { readonly type: string; readonly entries: Set<SubscriptionEntry<V>>; readonly revision: number },
  ): void {
    const names = this.source.takeRelisted?.(view, type) ?? [];
    for (const name of names) for (const entry of entries) this.mark(entry, name, revision, undefined);
  }

  allChanged(revision: number, view?: V): void {
    const all = view === undefined ? this.byProxy.values() : [this.byView.get(view) ?? []];
    for (const entries of all)
      for (const entry of entries) {
        const { subscriber, subscription } = entry;
        this.wildcard(entry, subscription.isWildcard);
        subscription.markAllLater(revision);
        this.schedule(subscriber);
      }
  }

  /** Schedules the pending changes of this stream for the next round, together with other changes by then. */
  schedule(subscriber: Subscriber<V>): void {
    subscriber.moved();
    this.due.add(subscriber);
    if (this.isPumping) return;
    this.isPumping = true;
    void this.pumpAll();
  }

  private mark(entry: SubscriptionEntry<V>, name: string, revision: number, view: V | undefined): void {
    if (view !== undefined && view !== entry.subscriber.view) return;
    entry.subscription.mark(name, revision);
    this.schedule(entry.subscriber);
  }

  private async pumpAll(): Promise<void> {
    await yieldToEventLoop();
    while (this.due.size > 0) {
      const wait = this.spacedUntil - ROUND_BURST - this.clock.elapsed();
      if (wait > 0) await this.clock.sleep(wait);
      await inTimedSlices(this.pumps(), { clock: this.clock });
      if (this.hasSent) this.spacedUntil = Math.max(this.spacedUntil, this.clock.elapsed()) + ROUND_INTERVAL;
      this.hasSent = false;
    }
    this.isPumping = false;
  }

  private *pumps(): Generator<void> {
    for (const subscriber of this.due) {
      this.due.delete(subscriber);
      if (subscriber.pump()) this.hasSent = true;
      yield;
    }
  }
}

export type SubscriberEntry<V> = SubscriptionEntry<V>;

function deleteIn<K, W>(map: Map<K, Set<W>>, key: K, value: W): void {
  const known = map.get(key);
  if (known?.delete(value) && known.size === 0) map.delete(key);
}

function mapIn<K, L, W>(map: Map<K, Map<L, W>>, key: K): Map<L, W> {
  const known = map.get(key) ?? new Map<L, W>();
  map.set(key, known);
  return known;
}

function setIn<K, W>(map: Map<K, Set<W>>, key: K): Set<W> {
  const known = map.get(key) ?? new Set<W>();
  map.set(key, known);
  return known;
}
