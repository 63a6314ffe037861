import { RESOURCE_TYPES } from '../resources/encoded-resource';
import type { Subscription } from './subscription';

const { cluster, endpoints, listener, filterChain, routes, secret } = RESOURCE_TYPES;

/**
 * The order in which additions are sent; removals go in the reverse order. Secrets stand beside clusters: what refers to them waits
 * for them.
 */
const ORDER: readonly string[] = [cluster, secret, endpoints, listener, filterChain, routes];

/** Types to whose resources the later ones refer. */
const FIRST: readonly string[] = [cluster, endpoints];
const LATER: ReadonlySet<string> = new Set([listener, filterChain, routes]);

/** Marks of clusters and endpoints up to which all is to be acked before what was staged is sent. */
interface Barrier {
  readonly clusters: number;
  endpoints: number;
}

/**
 * The order in which one stream is sent its types: make before break. Listeners, filter chains and routes wait for the clusters and
 * endpoints that were changed before them, and for no later ones: while clusters are never at rest, their contents are staged as
 * they are, and sent once all that was changed by then was acked. What is gone is removed when nothing that may refer to it is on its way.
 */
export class SendOrder {
  /** The types that the stream asks for, in the order in which additions are sent. */
  types: readonly string[] = [];
  private readonly barriers = new Map<string, Barrier>();

  constructor(private readonly subscriptions: ReadonlyMap<string, Subscription>) {}

  /** Takes over which types the stream asks for. */
  update(): void {
    const asked = [...this.subscriptions.keys()];
    this.types = [...ORDER.filter((each) => asked.includes(each)), ...asked.filter((each) => !ORDER.includes(each))];
    if (asked.length === 0) this.barriers.clear();
  }

  /** Whether changes of a type may be sent now. Stages them where they are to wait. */
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

  /** Whether changes of clusters or endpoints are to be sent with the next round. */
  get hasChanged(): boolean {
    return FIRST.some((type) => this.subscriptions.get(type)?.hasChanged);
  }

  /** Endpoints are to be sent for clusters that a proxy has taken: what waits for those clusters waits for these endpoints too. */
  awaitEndpoints(): void {
    for (const barrier of this.barriers.values())
      if (!this.hasSettled(cluster, barrier.clusters)) barrier.endpoints = this.latestMark(endpoints);
  }

  /** Whether what is gone of a type may be removed now: nothing that may refer to it is on its way. */
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
