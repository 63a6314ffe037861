import { RESOURCE_TYPES } from '../resources/encoded-resource';
import type { Subscription } from './subscription';

const { cluster, endpoints, listener, filterChain, routes, secret } = RESOURCE_TYPES;

/**
 * The order in which additions are sent; removals are sent in reverse order. Secrets are next to clusters: resources that refer to them wait for
 * them.
 */
const ORDER: readonly string[] = [cluster, secret, endpoints, listener, filterChain, routes];

/** Types that resources of the later types refer to. */
const FIRST: readonly string[] = [cluster, endpoints];
const LATER: ReadonlySet<string> = new Set([listener, filterChain, routes]);

/** The marks of clusters and endpoints that must be acknowledged before staged contents are sent. */
interface Barrier {
  readonly clusters: number;
  endpoints: number;
}

/**
 * The order in which one stream gets its types: make before break. Listeners, filter chains and routes wait for the clusters and endpoints that
 * changed before them, and for no later ones: if clusters change continuously, the contents are staged as they are, and sent once all earlier changes
 * are acknowledged. A resource that is gone is removed when no pending resource may refer to it.
 */
export class SendOrder {
  /** The subscribed types of the stream, in the order in which additions are sent. */
  types: readonly string[] = [];
  private readonly barriers = new Map<string, Barrier>();

  constructor(private readonly subscriptions: ReadonlyMap<string, Subscription>) {}

  /** Updates the types from the subscriptions of the stream. */
  update(): void {
    const asked = [...this.subscriptions.keys()];
    this.types = [...ORDER.filter((each) => asked.includes(each)), ...asked.filter((each) => !ORDER.includes(each))];
    if (asked.length === 0) this.barriers.clear();
  }

  /** Reports whether changes of a type may be sent now. Stages them if they must wait. */
  maySend(subscription: Subscription): boolean {
    const { type } = subscription;
    if (!this.mustWait(type)) {
      subscription.unstage();
      this.barriers.delete(type);
      return true;
    }
    if (!subscription.isStaged) {
      if (!subscription.isBusy) return false;
      subscription.stage();
      this.barriers.set(type, { clusters: this.latestMark(cluster), endpoints: this.latestMark(endpoints) });
    }
    const barrier = this.barriers.get(type);
    return (
      barrier === undefined ||
      (this.hasSettled(cluster, barrier.clusters) && this.hasSettled(endpoints, barrier.endpoints))
    );
  }

  /** Whether changes of clusters or endpoints are due in the next round. */
  get hasChanged(): boolean {
    return FIRST.some((type) => this.subscriptions.get(type)?.hasChanged);
  }

  /** Records that endpoints must be sent for clusters that a proxy has accepted: contents that wait for the clusters wait for these endpoints too. */
  awaitEndpoints(): void {
    for (const barrier of this.barriers.values())
      if (!this.hasSettled(cluster, barrier.clusters)) barrier.endpoints = this.latestMark(endpoints);
  }

  /** Reports whether resources of a type that are gone may be removed now: no pending resource may refer to them. */
  mayRemove(type: string): boolean {
    if (this.mustWait(type)) return false;
    const place = ORDER.indexOf(type);
    if (place < 0) return true;
    const after = ORDER.slice(place + 1).flatMap((later) => this.subscriptions.get(later) ?? []);
    return !after.some((subscription) => subscription.isBusy || subscription.isGoing);
  }

  private mustWait(type: string): boolean {
    return LATER.has(type) && FIRST.some((first) => this.subscriptions.get(first)?.isBusy);
  }

  private latestMark(type: string): number {
    return this.subscriptions.get(type)?.latestMark ?? 0;
  }

  private hasSettled(type: string, mark: number): boolean {
    return this.subscriptions.get(type)?.hasSettled(mark) ?? true;
  }
}
