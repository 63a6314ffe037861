import type { Identity } from '@causeway/resources';
import { RESOURCE_TYPES } from '../resources/encoded-resource';
import { ProtocolViolation, type AdsRequest } from './ads-messages';
import type { Proxy, RefusedResource } from './resource-source';
import { SendOrder } from './send-order';
import type { SessionOptions } from './session-options';
import type { SubscriberEntry } from './subscribers';
import type { Push } from './push';
import { Subscription } from './subscription';

const { cluster, endpoints, listener, filterChain, routes, secret } = RESOURCE_TYPES;

/** Types of which a response in state of the world contains all resources; missing ones are removed. */
const WHOLE: ReadonlySet<string> = new Set([cluster, listener]);

const WILDCARD = '*';

/** Types of which a first request without names subscribes to nothing; for all others it is a wildcard. */
const BY_NAME: ReadonlySet<string> = new Set([endpoints, filterChain, routes, secret]);

/** Maximum number of types on one stream: Envoy uses about a dozen. */
const MAX_TYPES = 32;
const MAX_TYPE_LENGTH = 256;
const MAX_NAME_LENGTH = 2_048;

/** One stream of a proxy without its transport: requests in, responses out. */
export class AdsSession<V> {
  readonly subscriptions = new Map<string, Subscription>();
  private readonly entries = new Map<string, SubscriberEntry<V>>();
  private readonly order = new SendOrder(this.subscriptions);
  /** The names that the stream has taken from the `NameBudget`. */
  private counted = 0;
  /** The number of responses since the stream began. */
  private sent = 0;

  constructor(
    private proxy: Proxy<V>,
    private readonly options: SessionOptions<V>,
  ) {}

  get proxyId(): string {
    return this.proxy.id;
  }

  get view(): V {
    return this.proxy.view;
  }

  /** The proxy of the session. */
  get owner(): Identity | undefined {
    return this.proxy.owner;
  }

  /** The reason why the proxy passes all traffic through as TCP and applies no route; undefined if it does not. */
  get tcpPassthroughReason(): string | undefined {
    return this.proxy.tcpPassthroughReason;
  }

  /** Returns the resources of this proxy that violate Envoy's constraints: it keeps their last good content, or has none. */
  refused(): readonly RefusedResource[] {
    const { source } = this.options;
    const concerns = ({ type, name, isDeclared }: RefusedResource): boolean =>
      isDeclared ?? this.subscriptions.get(type)?.concerns(name) === true;
    return [...(source.refused?.(this.proxy) ?? [])].filter(concerns);
  }

  /** The time at which the oldest unacknowledged response was sent, by `Clock.elapsed`. */
  get oldestUnacked(): number | undefined {
    const times = [...this.subscriptions.values()].flatMap(({ inFlight }) => (inFlight ? [inFlight.at] : []));
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  /** Processes a request and sends the resources that it subscribes to. Throws ProtocolViolation. */
  receive(request: AdsRequest): void {
    const { source } = this.options;
    this.moved();
    const known = this.subscriptions.get(request.type);
    const subscription = known ?? this.begin(request);
    const { revision } = source;
    if (request.nonce !== '' && known) this.settle(known, request);
    if (known && this.options.form === 'delta' && isBareAnswer(request)) return this.proceed();
    if (this.options.form === 'delta') this.change(subscription, request, { isFirst: !known, revision });
    else this.replace(subscription, request, { isFirst: !known, revision });
    this.pump();
  }

  /** Replaces the identity of the proxy: all resources are compared again. */
  become(proxy: Proxy<V>): void {
    if (proxy.id === this.proxy.id && proxy.view === this.proxy.view) return;
    const entries = [...this.entries.values()];
    entries.forEach((entry) => this.options.subscribers.remove(entry));
    this.proxy = proxy;
    this.moved();
    for (const subscription of this.subscriptions.values()) {
      this.enter(subscription);
      subscription.unstage();
      subscription.markAll(this.options.source.revision);
    }
    this.pump();
  }

  moved(): void {
    this.options.moved(this.proxy.id);
  }

  /** Sends all pending changes in order. Never throws. */
  pump(): boolean {
    this.moved();
    const { sent } = this;
    try {
      this.sendDue();
    } catch (error) {
      this.options.failed(error);
    }
    return this.sent > sent;
  }

  /** Continues after an answer: sends at once the changes that waited for it; later changes follow in the next round. */
  private proceed(): void {
    if (this.order.hasChanged) this.options.subscribers.schedule(this);
    else this.pump();
  }

  close(): void {
    for (const entry of this.entries.values()) this.options.subscribers.remove(entry);
    for (const { inFlight } of this.subscriptions.values()) if (inFlight) this.options.budget.refund(inFlight.bytes);
    this.subscriptions.clear();
    this.order.update();
    this.options.names.resize(this.counted, 0);
    this.counted = 0;
  }

  private sendDue(): void {
    const { types } = this.order;
    for (const type of types) {
      const subscription = this.subscriptions.get(type);
      if (subscription && !subscription.inFlight && this.order.maySend(subscription)) this.push(subscription, false);
    }
    for (const type of [...types].reverse()) {
      const subscription = this.subscriptions.get(type);
      const isFree = subscription?.isGoing && !subscription.inFlight;
      if (isFree && this.order.mayRemove(type)) this.push(subscription, true);
    }
  }

  private begin({ type }: AdsRequest): Subscription {
    if (this.subscriptions.size >= MAX_TYPES) throw new ProtocolViolation(`more than ${MAX_TYPES} types on one stream`);
    if (type.length > MAX_TYPE_LENGTH)
      throw new ProtocolViolation(`type_url: of ${type.length} characters is longer than ${MAX_TYPE_LENGTH}`);
    const { source, form } = this.options;
    const subscription = new Subscription(type, form, form === 'sotw' && WHOLE.has(type), {
      get: (name) => source.get(this.proxy.view, type, name),
      names: () => source.names(this.proxy, type),
    });
    this.subscriptions.set(type, subscription);
    this.order.update();
    this.enter(subscription);
    return subscription;
  }

  private enter(subscription: Subscription): void {
    const entry = this.options.subscribers.add(this, subscription);
    this.entries.set(subscription.type, entry);
    this.options.subscribers.named(entry, subscription.named);
    this.options.subscribers.wildcard(entry, subscription.isWildcard);
  }

  private settle(subscription: Subscription, { nonce, error }: AdsRequest): void {
    const { clock, counters, budget, source } = this.options;
    const bytes = subscription.inFlight?.bytes ?? 0;
    if (!subscription.acked(nonce, error, clock.now())) {
      counters.staleNonces++;
      return;
    }
    if (error !== undefined) {
      counters.rejections++;
      this.options.rejected(this.proxy.id, subscription.type, error);
    }
    budget.refund(bytes);
    source.acked?.(this.proxy, subscription.type, subscription.ackedRevision(source.revision));
  }

  /** Delta: subscribes to names and unsubscribes from names. */
  private change(
    subscription: Subscription,
    { subscribe, unsubscribe, versions }: AdsRequest,
    { isFirst, revision }: { readonly isFirst: boolean; readonly revision: number },
  ): void {
    const names = this.checked(subscription, subscribe);
    if (isFirst) {
      this.checked(subscription, [...versions.keys()]);
      subscription.holds(versions, revision);
    }
    const isNameless = isFirst && subscribe.length === 0 && !BY_NAME.has(subscription.type);
    if (subscribe.includes(WILDCARD) || isNameless) this.setWildcard(subscription, true, revision);
    if (isFirst && subscription.isWildcard && versions.size === 0) subscription.answer();
    this.want(subscription, names, { isAnswerDue: !isFirst, revision });
    if (unsubscribe.includes(WILDCARD)) this.setWildcard(subscription, false, revision);
    this.drop(subscription, unsubscribe, revision);
    this.count(this.named);
  }

  /** State of the world: replaces the subscribed names. */
  private replace(
    subscription: Subscription,
    { names, version, nonce }: AdsRequest,
    { isFirst, revision }: { readonly isFirst: boolean; readonly revision: number },
  ): void {
    const isNameless = isFirst && names.length === 0 && !BY_NAME.has(subscription.type);
    const isListing = names.includes(WILDCARD) || isNameless;
    const wanted = new Set(this.checked(subscription, names, subscription.named.size));
    const dropped = [...subscription.named].filter((name) => !wanted.has(name));
    const added = [...wanted].filter((name) => !subscription.named.has(name));
    if (isListing) this.setWildcard(subscription, true, revision);
    else if (names.length > 0) this.setWildcard(subscription, false, revision);
    this.want(subscription, added, { isAnswerDue: false, revision });
    this.drop(subscription, dropped, revision);
    this.count(this.named);
    if (!isFirst) return;
    if (version !== '') subscription.holdsUnknown();
    const held = version !== '' && nonce === '' ? subscription.versionOfWanted() : undefined;
    if (held && held.version === version) {
      subscription.settle(held.resources);
      this.options.counters.unchanged += held.resources.length;
    } else if (WHOLE.has(subscription.type)) subscription.answer();
  }

  private want(
    subscription: Subscription,
    names: readonly string[],
    { isAnswerDue, revision }: { readonly isAnswerDue: boolean; readonly revision: number },
  ): void {
    if (names.length === 0) return;
    this.options.subscribers.named(this.getEntry(subscription), names);
    subscription.subscribe(names, isAnswerDue, revision);
    if (subscription.type === endpoints) this.order.awaitEndpoints();
    this.options.source.subscribed?.(this.proxy, subscription.type, names);
  }

  private drop(subscription: Subscription, names: readonly string[], revision: number): void {
    if (names.length === 0) return;
    this.options.subscribers.unnamed(this.getEntry(subscription), names);
    subscription.unsubscribe(names, revision);
    this.options.source.unsubscribed?.(this.proxy, subscription.type, names);
  }

  private setWildcard(subscription: Subscription, on: boolean, revision: number): void {
    subscription.setWildcard(on, revision);
    this.options.subscribers.wildcard(this.getEntry(subscription), on);
  }

  private getEntry({ type }: Subscription): SubscriberEntry<V> {
    const entry = this.entries.get(type);
    if (!entry) throw new Error(`no subscription to ${type}`);
    return entry;
  }

  /**
   * Returns the names without the wildcard. Throws if a name is too long, or if the stream would have too many names after `replaced` of them are
   * dropped.
   */
  private checked(subscription: Subscription, asked: readonly string[], replaced = 0): readonly string[] {
    const names = asked.filter((name) => name !== WILDCARD);
    const added = replaced > 0 ? names : names.filter((name) => !subscription.named.has(name));
    const long = names.find((name) => name.length > MAX_NAME_LENGTH);
    if (long !== undefined)
      throw new ProtocolViolation(`a name of ${long.length} characters is longer than ${MAX_NAME_LENGTH}`);
    this.count(this.named - replaced + added.length);
    return names;
  }

  /** The number of names subscribed on the stream, of all types. */
  private get named(): number {
    let sum = 0;
    for (const { named } of this.subscriptions.values()) sum += named.size;
    return sum;
  }

  private count(names: number): void {
    const { mostNames } = this.options;
    if (names > mostNames) throw new ProtocolViolation(`${names} names are more than ${mostNames} on one stream`);
    if (!this.options.names.resize(this.counted, names))
      throw new ProtocolViolation(`${names} names: the streams of all proxies together ask for the maximum already`);
    this.counted = names;
  }

  private push(subscription: Subscription, mayRemove: boolean): void {
    const { budget, counters, source } = this.options;
    if (budget.isSpent() && subscription.isBusy) return budget.wait(this);
    const unchanged = subscription.unchanged;
    const acked = subscription.ackedRevision(source.revision);
    const isStarting = subscription.type === cluster && !this.subscriptions.has(listener);
    const push = subscription.take({ mayRemove, isStarting });
    counters.unchanged += subscription.unchanged - unchanged;
    if (push) this.send(subscription, push);
    else if (subscription.ackedRevision(source.revision) > acked) source.unchanged?.(this.proxy, subscription.type);
  }

  private send(subscription: Subscription, push: Push): void {
    const { form, source, clock, budget, counters, encoder } = this.options;
    const version = form === 'delta' ? String(source.revision) : subscription.version;
    const { resources, removed } = push;
    const content = { form, type: subscription.type, version, resources, removed };
    const { nonce, frame } = encoder.encode(content, subscription.latestNonce);
    subscription.sent(push, { nonce, at: clock.elapsed(), bytes: frame.length }, source.revision);
    budget.spend(frame.length);
    counters.responses++;
    this.sent++;
    counters.resources += resources.length;
    this.options.send(frame);
    if (subscription.type === cluster) this.repeatEndpoints(push);
  }

  /** Envoy warms an updated cluster until its endpoints are sent again, even unchanged ones. */
  private repeatEndpoints({ changed }: Push): void {
    const known = this.subscriptions.get(endpoints);
    if (!known) return;
    for (const { endpointsName } of changed)
      if (endpointsName !== undefined && known.isNamed(endpointsName))
        known.force(endpointsName, this.options.source.revision);
    this.order.awaitEndpoints();
  }
}

/** Reports whether a delta request only answers a response, as most do. In state of the world each request has all names. */
function isBareAnswer({ nonce, subscribe, unsubscribe }: AdsRequest): boolean {
  return nonce !== '' && subscribe.length + unsubscribe.length === 0;
}
