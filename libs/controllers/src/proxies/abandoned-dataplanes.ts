import { identityKey, type ResourceKey } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { NO_KEYS, RESCAN, type KeyedReconciler, type Keys, type ReconcileResult } from '@causeway/loops';
import type { ProxyDirectory } from './proxy-directory';

/** The label of a Dataplane that its proxy brought along: which registration wrote it. One that somebody else wrote has none. */
export const REGISTERED_BY = 'causeway.io/registered-by';

export interface AbandonedDataplanesOptions {
  readonly zone: string;
  readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'ofOwner' | 'changesSince'>;
  /** How long a registered Dataplane stays while no replica has a stream of its proxy, ms. */
  readonly after: number;
  /** Many are without a proxy: none is removed. Is called when that begins. */
  readonly onHeld?: (abandoned: number, registered: number) => void;
}

/** Removal is held where more than so many, and more than this part of all, are without a proxy. */
const HELD_FROM = 10;
const HELD_PART = 0.3;
/** A held Dataplane goes after so long, ms (as Kuma 2.14 removes proxies that are offline). */
const HELD_FOR = 72 * 3_600_000;
/** How often a held Dataplane is examined, ms. */
const POLL_INTERVAL = 60_000;

/**
 * Removes Dataplanes that proxies registered and whose proxy has no stream at any replica: the replica that would have removed
 * such a Dataplane ended before its proxy did (docs/reference/proxies.md, Registered Dataplanes). The time counts from when this
 * leader examined it first, so a control plane that was away removes nobody; a proxy that comes back writes its Dataplane anew.
 */
export class AbandonedDataplanesReconciler implements KeyedReconciler {
  readonly name = 'abandoned-dataplanes';
  readonly looksOutside = true;
  private lookedAt: number | undefined;
  private readonly registered = new Set<ResourceKey>();
  /** Since when the proxy of a registered Dataplane is not there, ms since 1970. */
  private readonly absentSince = new Map<ResourceKey, number>();
  private isHolding = false;

  constructor(private readonly options: AbandonedDataplanesOptions) {}

  /** Keeps what is known of absent proxies: loops are reset within a term too. */
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
    // Its proxy has come, to whichever replica.
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
