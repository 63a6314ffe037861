import type { EncodedResource } from '../resources/encoded-resource';
import { countBytes, type AdsForm } from './ads-messages';
import { fingerprint, discoversEndpoints, SentResources } from './sent-resources';
import { ProxyRejections } from './rejections';

/** Bytes of resources in one response; one resource may be larger. */
export const CHUNK_BYTES = 512 * 1024;

/** The resources of one type to be sent. */
export interface Push {
  readonly resources: readonly EncodedResource[];
  readonly removed: readonly string[];
  /** Those of `resources` that the proxy lacks. */
  readonly changed: readonly EncodedResource[];
}

/** A response that is not acked yet. */
interface InFlight extends Push {
  readonly nonce: string;
  readonly at: number;
  readonly bytes: number;
  /** The first revision whose changes it holds. */
  readonly since: number;
}

/** Options of taking the next response. */
export interface TakeOptions {
  /** It also has what is going. */
  readonly mayRemove: boolean;
  /**
   * The proxy has asked for no listener yet. An Envoy asks for them once its clusters are ready, and 1.40 waits for ever for a cluster
   * whose endpoints it was about to discover when another kind of cluster took its name: that one goes first, and comes anew.
   */
  readonly isStarting: boolean;
}

/** The source of a subscription, bound to the proxy. */
export interface TypeSource {
  get(name: string): EncodedResource | 'pending' | undefined;
  names(): ReadonlySet<string>;
}

/** Responses of one subscription since its stream began. */
export interface ResponseCounts {
  sent: number;
  acked: number;
  rejected: number;
}

/**
 * What one stream asked for of one type, what it holds, and what it must be sent. At most one response is not acked; changes merge
 * meanwhile. The cost of a change is that of the names it names.
 */
export class Subscription {
  isWildcard = false;
  readonly named = new Set<string>();
  inFlight: InFlight | undefined;
  /** Of the latest response. */
  latestNonce: string | undefined;
  readonly rejections = new ProxyRejections();
  readonly responses: ResponseCounts = { sent: 0, acked: 0, rejected: 0 };
  /** Resources that were not sent because the proxy held them already. */
  unchanged = 0;
  /** The resources sent last, acked or not: what the proxy rejects is sent again when it changes. */
  private readonly held: SentResources;
  /** Names of which the proxy knows that there are none. */
  private readonly absent = new Set<string>();
  private readonly dirty = new Set<string>();
  /** To be sent though unchanged. */
  private readonly forced = new Set<string>();
  /** Held by the proxy and gone: the removal is sent when nothing refers to them any more. */
  private readonly going = new Set<string>();
  /** The first revision that has not been sent whole. */
  private pendingSince: number | undefined;
  private mustAnswer = false;
  /** Everything is marked before the next response. */
  private isStale = false;
  /** The latest response was full, and the next one has the rest. */
  private isCut = false;

  /** `isWhole`: each response has all that is subscribed to (clusters and listeners in the state of the world). */
  constructor(
    readonly type: string,
    readonly form: AdsForm,
    private readonly isWhole: boolean,
    private readonly source: TypeSource,
  ) {
    this.held = new SentResources(form);
  }

  /** The version of what the proxy holds, in the state of the world. */
  get version(): string {
    return this.held.version;
  }

  get heldCount(): number {
    return this.held.size;
  }

  /** Something is to be sent or was not acked; names that are going wait for others. */
  get isBusy(): boolean {
    return this.inFlight !== undefined || this.dirty.size > 0 || this.mustAnswer || this.isStale;
  }

  /** It is to send what has changed since its last response, and that one had all that it was to have. */
  get hasChanged(): boolean {
    return this.inFlight === undefined && !this.isCut && this.dirty.size > 0 && !this.mustAnswer;
  }

  get isGoing(): boolean {
    return this.going.size > 0;
  }

  /** It holds and applies all changes, whatever revision comes, until it is marked or asks for something. */
  get isAtRest(): boolean {
    return !this.inFlight && this.pendingSince === undefined && this.rejections.since === undefined;
  }

  /** The proxy holds, or has rejected, all changes up to this revision. */
  ackedRevision(latest: number): number {
    const since = this.inFlight?.since ?? this.pendingSince;
    return since === undefined ? latest : Math.min(latest, since - 1);
  }

  /** The same, but what it has rejected counts as not held. */
  appliedRevision(latest: number): number {
    const acked = this.ackedRevision(latest);
    const { since } = this.rejections;
    return since === undefined ? acked : Math.min(acked, since - 1);
  }

  /** The version of a resource that the proxy has accepted; undefined while an answer is due, and after a rejection. */
  acceptedVersion(name: string): string | undefined {
    if (this.rejections.has(name) || this.inFlight?.resources.some((each) => each.name === name)) return undefined;
    return this.held.get(name)?.version;
  }

  /** Whether a change of this name is of interest: subscribed to, listed, or held. */
  concerns(name: string): boolean {
    return this.named.has(name) || this.held.has(name) || (this.isWildcard && this.source.names().has(name));
  }

  isNamed(name: string): boolean {
    return this.named.has(name) || this.held.has(name);
  }

  /** Takes the resources that the proxy reports to hold when its stream begins. */
  holds(versions: ReadonlyMap<string, string>, revision: number): void {
    for (const [name, version] of versions) {
      this.held.hold({ name, version });
      this.mark(name, revision);
    }
    if (versions.size > 0) this.holdsUnknown();
  }

  /** The proxy may hold state of any age: nothing counts as acked before it was compared. */
  holdsUnknown(): void {
    this.pendingSince = 0;
  }

  /** The first request of this type is answered, with nothing where there is nothing. */
  answer(): void {
    this.mustAnswer = true;
  }

  subscribe(names: readonly string[], isAnswerDue: boolean, revision: number): void {
    for (const name of names) {
      this.named.add(name);
      this.absent.delete(name);
      if (isAnswerDue) this.forced.add(name);
      this.mark(name, revision);
    }
  }

  unsubscribe(names: readonly string[], revision: number): void {
    for (const name of names) {
      if (!this.named.delete(name)) continue;
      this.drop(name);
      if (this.isWildcard && this.source.names().has(name)) this.mark(name, revision);
    }
  }

  /** Begins or ends to get what the source lists. */
  setWildcard(on: boolean, revision: number): void {
    if (this.isWildcard === on) return;
    this.isWildcard = on;
    if (on) for (const name of this.source.names()) this.mark(name, revision);
    else for (const name of this.held.names()) if (!this.named.has(name)) this.drop(name);
  }

  mark(name: string, revision: number): void {
    this.dirty.add(name);
    this.pendingSince ??= revision;
  }

  /** Everything is looked at again: the view of the proxy has changed. */
  markAll(revision: number): void {
    this.absent.clear();
    const listed = this.isWildcard ? this.source.names() : [];
    for (const name of [...this.named, ...this.held.names(), ...listed]) this.mark(name, revision);
  }

  /** The same, with the work of it left to the next `take`. */
  markAllLater(revision: number): void {
    this.isStale = true;
    this.pendingSince ??= revision;
  }

  /** Sends a name that the proxy has or asked for again, though it is unchanged. */
  force(name: string, revision: number): void {
    this.forced.add(name);
    this.mark(name, revision);
  }

  /** The state of the world: the proxy says by a version that it holds all of this. */
  versionOfWanted(): { readonly version: string; readonly resources: readonly EncodedResource[] } {
    const resources = this.present();
    return { version: fingerprint(resources), resources };
  }

  settle(resources: readonly EncodedResource[]): void {
    for (const resource of resources) this.held.hold(resource);
    this.unchanged += resources.length;
    this.dirty.clear();
    this.pendingSince = undefined;
  }

  /**
   * The next response, at most a chunk; undefined where nothing is to be sent. The caller sends it and calls `sent`.
   */
  take({ mayRemove, isStarting }: TakeOptions): Push | undefined {
    if (this.isStale) this.markAll(this.pendingSince ?? 0);
    this.isStale = false;
    if (this.dirty.size === 0 && !this.mustAnswer && !(mayRemove && this.isGoing)) {
      if (!this.isGoing) this.pendingSince = undefined;
      return undefined;
    }
    const { resources, removed } = this.takeChanges(isStarting);
    if (mayRemove) {
      removed.push(...this.going);
      for (const name of this.going) this.held.release(name);
      this.going.clear();
    }
    const isTold = this.isWhole || this.form === 'delta';
    const isDue = resources.length + (isTold ? removed.length : 0) > 0 || this.mustAnswer;
    this.mustAnswer = false;
    if (!isDue) {
      if (this.dirty.size + this.going.size === 0) this.pendingSince = undefined;
      return undefined;
    }
    return { resources: this.isWhole ? this.wholeState() : resources, removed, changed: resources };
  }

  sent(push: Push, response: Pick<InFlight, 'nonce' | 'at' | 'bytes'>, latest: number): void {
    this.latestNonce = response.nonce;
    this.inFlight = { ...push, ...response, since: this.pendingSince ?? latest + 1 };
    this.responses.sent += 1;
    if (this.dirty.size + this.going.size === 0) this.pendingSince = undefined;
  }

  /** False: the nonce is not that of the response under way, and the answer counts for nothing. */
  acked(nonce: string, error: string | undefined, now: number): boolean {
    const push = this.inFlight;
    if (!push || push.nonce !== nonce) return false;
    this.inFlight = undefined;
    this.responses[error === undefined ? 'acked' : 'rejected'] += 1;
    // A proxy drops the names that a response removes, whatever else of the response it rejects.
    this.rejections.accept(push.removed.map((name) => ({ name })));
    if (error !== undefined) this.rejections.reject(push.resources, { text: error, at: now }, push.since);
    else this.rejections.accept(push.resources);
    return true;
  }

  private takeChanges(isStarting: boolean): { resources: EncodedResource[]; removed: string[] } {
    const resources: EncodedResource[] = [];
    const removed: string[] = [];
    const anew: string[] = [];
    let bytes = 0;
    this.isCut = false;
    for (const name of this.dirty) {
      if (bytes >= CHUNK_BYTES && !this.isWhole) {
        this.isCut = true;
        break;
      }
      this.dirty.delete(name);
      const isForced = this.forced.delete(name);
      const isWanted = this.named.has(name) || (this.isWildcard && this.source.names().has(name));
      const resource = isWanted ? this.source.get(name) : undefined;
      const held = this.held.get(name);
      if (resource === 'pending') continue;
      if (!resource) {
        if (held) this.going.add(name);
        else if (isWanted && !this.absent.has(name)) {
          this.absent.add(name);
          removed.push(name);
        }
        continue;
      }
      this.going.delete(name);
      if (held?.version === resource.version && !isForced) {
        this.unchanged++;
        continue;
      }
      if (isStarting && held && resource.endpointsName === undefined && discoversEndpoints(held)) {
        this.held.release(name);
        removed.push(name);
        anew.push(name);
        continue;
      }
      this.absent.delete(name);
      this.held.hold(resource);
      resources.push(resource);
      bytes += countBytes(resource);
    }
    for (const name of anew) this.dirty.add(name);
    return { resources, removed };
  }

  /** All that the proxy shall hold: what is going stays until it may go. */
  private wholeState(): readonly EncodedResource[] {
    return this.held.whole();
  }

  private present(): readonly EncodedResource[] {
    const names = this.isWildcard ? new Set([...this.named, ...this.source.names()]) : this.named;
    return [...names].map((name) => this.source.get(name)).filter((found) => typeof found === 'object');
  }

  private drop(name: string): void {
    this.held.release(name);
    this.rejections.accept([{ name }]);
    for (const names of [this.absent, this.dirty, this.forced, this.going]) names.delete(name);
  }
}
