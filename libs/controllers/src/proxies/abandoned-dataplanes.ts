import { identityKey, type ResourceKey } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { NO_KEYS, RESCAN, type KeyedReconciler, type Keys, type ReconcileResult } from '@causeway/loops';
import type { ProxyDirectory } from './proxy-directory';

/** The label of a Dataplane that its proxy registered, with the id of the registration. A Dataplane of another author has none. */
export const REGISTERED_BY = 'causeway.io/registered-by';

export interface AbandonedDataplanesOptions {
  readonly zone: string;
  readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'ofOwner' | 'changesSince'>;
  /** The time for which a registered Dataplane is kept while no replica has a stream of its proxy, ms. */
  readonly after: number;
  /** Called when a hold begins: many Dataplanes are without a proxy, and none is removed. */
  readonly onHeld?: (abandoned: number, registered: number) => void;
}

/** Removal is held if more than this number, and more than this share of all, are without a proxy. */
const HELD_FROM = 10;
const HELD_PART = 0.3;
/** The time after which a held Dataplane is removed, ms (as Kuma 2.14 removes proxies that are offline). */
const HELD_FOR = 72 * 3_600_000;
/** Interval of the checks of a held Dataplane, ms. */
const POLL_INTERVAL = 60_000;

/**
 * Removes registered Dataplanes whose proxy has no stream at any replica: the replica that would have removed such a Dataplane ended before its proxy
 * did (docs/reference/proxies.md, Registered Dataplanes). The time starts when this leader first checks the Dataplane, so an outage of the control
 * plane removes none; a proxy that comes back registers its Dataplane again.
 */
export class AbandonedDataplanesReconciler implements KeyedReconciler {
  readonly name = 'abandoned-dataplanes';
  readonly looksOutside = true;
  private lookedAt: number | undefined;
  private readonly registered = new Set<ResourceKey>();
  /** The time since which the proxy of a registered Dataplane is absent, ms since 1970. */
  private readonly absentSince = new Map<ResourceKey, number>();
  private isHolding = false;

  constructor(private readonly options: AbandonedDataplanesOptions) {}

  /** Keeps the times of absent proxies: loops are reset within a term too. */
  *seed(index: IndexReader): Iterable<Keys> {
    this.registered.clear();
    for (const key of this.absentSince.keys()) if (!index.byIdentityKey(key)) this.absentSince.delete(key);
    for (const { id, labels } of index.ofKind('Dataplane')) {
      const isRegistered = id.zone === this.options.zone && labels[REGISTERED_BY] !== undefined;
      const key = identityKey(id);
      if (isRegistered) this.registered.add(key);
      yield isRegistered ? [key] : NO_KEYS;
    }
  }

  listKeys({ id, key, before, after }: IndexChange): Keys {
    if (id.kind !== 'Dataplane' || id.zone !== this.options.zone) return NO_KEYS;
    const [old, now] = [before?.labels[REGISTERED_BY], after?.labels[REGISTERED_BY]];
    if (old === now) return NO_KEYS;
    // Its proxy has connected to some replica.
    this.absentSince.delete(key);
    return [key];
  }

  outsideKeys(): readonly (ResourceKey | typeof RESCAN)[] {
    const { proxies } = this.options;
    if (!proxies.isLoaded) return NO_KEYS;
    const { next, owners } = proxies.changesSince(this.lookedAt);
    this.lookedAt = next;
    return owners === 'all' ? [RESCAN] : owners;
  }

  reconcile(key: ResourceKey, index: IndexReader, now: number): ReconcileResult | undefined {
    const { proxies, after } = this.options;
    const dataplane = index.byIdentityKey(key);
    if (dataplane?.labels[REGISTERED_BY] === undefined) {
      this.registered.delete(key);
      this.absentSince.delete(key);
      return undefined;
    }
    this.registered.add(key);
    if (!proxies.isLoaded) return undefined;
    if (proxies.ofOwner(key)?.connected === true) {
      this.absentSince.delete(key);
      return undefined;
    }
    const since = this.absentSince.get(key) ?? now;
    this.absentSince.set(key, since);
    if (now < since + after) return { dueAt: since + after };
    if (this.holds() && now < since + HELD_FOR) return { dueAt: now + POLL_INTERVAL };
    return { change: { type: 'delete', id: dataplane.id, expect: dataplane.revision } };
  }

  private holds(): boolean {
    const [abandoned, registered] = [this.absentSince.size, this.registered.size];
    const holds = abandoned > HELD_FROM && abandoned > HELD_PART * registered;
    if (holds && !this.isHolding) this.options.onHeld?.(abandoned, registered);
    this.isHolding = holds;
    return holds;
  }
}
