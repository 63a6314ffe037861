import type { EncodedResource } from '../resources/encoded-resource';
import { countBytes, type AdsForm } from './ads-messages';
import { CHUNK_BYTES, type InFlight, type Push, type TakeOptions } from './push';
import { MarkedNames } from './marked-names';
import { fingerprint, discoversEndpoints, SentResources } from './sent-resources';
import { ProxyRejections } from './rejections';

/** The source, bound to one proxy and type. */
export interface TypeSource {
  get(name: string): EncodedResource | 'pending' | undefined;
  names(): ReadonlySet<string>;
}

/** Counters of the responses of one subscription since its stream began. */
export interface ResponseCounts {
  sent: number;
  acked: number;
  rejected: number;
}

/**
 * State of one resource type on one stream: subscribed names, held resources, and pending changes. At most one response is unacknowledged; changes
 * merge meanwhile. A change costs its names.
 */
export class Subscription {
  isWildcard = false;
  readonly named = new Set<string>();
  inFlight: InFlight | undefined;
  /** The nonce of the latest response. */
  latestNonce: string | undefined;
  readonly rejections = new ProxyRejections();
  readonly responses: ResponseCounts = { sent: 0, acked: 0, rejected: 0 };
  /** The number of resources that were not sent because the proxy held them already. */
  unchanged = 0;
  /**
   * The resources that were last sent, acknowledged or not. A rejected resource is treated as acknowledged; it is resent when its content changes.
   */
  private readonly held: SentResources;
  /** Subscribed names that the proxy knows to be absent. */
  private readonly absent = new Set<string>();
  private readonly dirty = new MarkedNames();
  /** Contents that wait for earlier changes of types that they may refer to. */
  private staged: Map<string, EncodedResource | undefined> | undefined;
  /** The first revision that the staged contents contain. */
  private stagedSince: number | undefined;
  /** Names to send even if unchanged. */
  private readonly forced = new Set<string>();
  /** Names that the proxy holds and that are gone: the removal is sent when nothing refers to them any more. */
  private readonly going = new Set<string>();
  /** The first revision that has not been sent completely. */
  private pendingSince: number | undefined;
  private mustAnswer = false;
  /** The mark for a deferred marking of everything, which is applied before the next response. */
  private staleMark: number | undefined;
  /** The first mark in the latest response. */
  private takenMark = 0;
  /** Whether the latest response was full, so that the next one continues it. */
  private isCut = false;

  /** `isWhole`: each response contains all subscribed resources (clusters and listeners in state of the world). */
  constructor(
    readonly type: string,
    readonly form: AdsForm,
    private readonly isWhole: boolean,
    private readonly source: TypeSource,
  ) {
    this.held = new SentResources(form);
  }

  /** The version of the held resources, in state of the world. */
  get version(): string {
    return this.held.version;
  }

  get heldCount(): number {
    return this.held.size;
  }

  /** Whether a change is pending or unacknowledged; removals that wait for other types do not count. */
  get isBusy(): boolean {
    return this.inFlight !== undefined || this.isDue;
  }

  private get isDue(): boolean {
    return this.dirty.size > 0 || this.isStaged || this.mustAnswer || this.staleMark !== undefined;
  }

  get isStaged(): boolean {
    return this.staged !== undefined;
  }

  /** The latest mark: a position in the order of all changes of this type. */
  get latestMark(): number {
    return this.dirty.latest;
  }

  /** Reports whether all changes up to a mark were sent and acknowledged. */
  hasSettled(mark: number): boolean {
    const oldest = Math.min(this.inFlight?.oldestMark ?? Infinity, this.dirty.oldest, this.staleMark ?? Infinity);
    return oldest > mark && !this.mustAnswer;
  }

  /** Whether changes since the latest response are pending, and that response was complete. */
  get hasChanged(): boolean {
    return this.inFlight === undefined && !this.isCut && this.dirty.size > 0 && !this.mustAnswer;
  }

  get isGoing(): boolean {
    return this.going.size > 0;
  }

  /** Whether the proxy holds and applies all changes, whatever the revision, until a name is marked or requested. */
  get isAtRest(): boolean {
    return !this.inFlight && !this.isStaged && this.pendingSince === undefined && this.rejections.since === undefined;
  }

  /** Returns the revision up to which the proxy holds, or has rejected, all changes. */
  ackedRevision(latest: number): number {
    const since = this.inFlight?.since ?? this.stagedSince ?? this.pendingSince;
    return since === undefined ? latest : Math.min(latest, since - 1);
  }

  /** Returns the revision up to which the proxy applies all changes: rejected resources do not count. */
  appliedRevision(latest: number): number {
    const acked = this.ackedRevision(latest);
    const { since } = this.rejections;
    return since === undefined ? acked : Math.min(acked, since - 1);
  }

  /** Returns the version of a resource that the proxy has accepted; undefined while an answer is outstanding, and after a rejection. */
  acceptedVersion(name: string): string | undefined {
    if (this.rejections.has(name) || this.inFlight?.resources.some((each) => each.name === name)) return undefined;
    return this.held.get(name)?.version;
  }

  /** Reports whether a change of this name matters: it is subscribed, listed, or held. */
  concerns(name: string): boolean {
    return this.named.has(name) || this.held.has(name) || (this.isWildcard && this.source.names().has(name));
  }

  isNamed(name: string): boolean {
    return this.named.has(name) || this.held.has(name);
  }

  /** Records the resources that the proxy reports to hold when its stream begins. */
  holds(versions: ReadonlyMap<string, string>, revision: number): void {
    for (const [name, version] of versions) {
      this.held.hold({ name, version });
      this.mark(name, revision);
    }
    if (versions.size > 0) this.holdsUnknown();
  }

  /** Records that the proxy may hold state of any age: nothing counts as acknowledged before it was compared. */
  holdsUnknown(): void {
    this.pendingSince = 0;
  }

  /** Makes sure that the first request of this type is answered, even with an empty response. */
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

  /** Starts or stops a wildcard subscription. */
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

  /** Marks everything as changed, because the view of the proxy changed. */
  markAll(revision: number): void {
    this.absent.clear();
    const listed = this.isWildcard ? this.source.names() : [];
    this.dirty.addAll([...this.named, ...this.held.names(), ...listed], this.staleMark);
    if (this.dirty.size > 0) this.pendingSince ??= revision;
  }

  /** Marks everything as changed, and defers the work to the next `take`. */
  markAllLater(revision: number): void {
    this.staleMark ??= this.dirty.next();
    this.pendingSince ??= revision;
  }

  /** Sends a name that the proxy has or requested again, even if it is unchanged. */
  force(name: string, revision: number): void {
    this.forced.add(name);
    this.mark(name, revision);
  }

  /** Returns all wanted resources with their combined version; in state of the world a proxy reports by this version that it holds them. */
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

  /** Stages the pending contents as they are now; later changes are sent after them. */
  stage(): void {
    this.markStale();
    this.staged = new Map();
    for (const name of this.dirty.names()) {
      const resource = this.readWanted(name);
      if (resource !== 'pending') this.staged.set(name, resource);
    }
    this.dirty.clear();
    this.stagedSince = this.pendingSince;
    this.pendingSince = undefined;
  }

  /** Ends staging: staged names are sent with their current content, together with all later changes. */
  unstage(): void {
    if (!this.staged) return;
    this.dirty.addAll(this.staged.keys());
    this.endStaging(true);
  }

  /** Returns the next response, at most a chunk; undefined if nothing is pending. The caller sends it and calls `sent`. */
  take({ mayRemove, isStarting }: TakeOptions): Push | undefined {
    if (!this.staged) this.markStale();
    if (!this.isDue && !(mayRemove && this.isGoing)) {
      if (!this.isGoing) this.pendingSince = undefined;
      return undefined;
    }
    this.takenMark = Math.min(this.dirty.oldest, this.latestMark);
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
      this.moveSince();
      return undefined;
    }
    return { resources: this.isWhole ? this.wholeState() : resources, removed, changed: resources };
  }

  sent(push: Push, response: Pick<InFlight, 'nonce' | 'at' | 'bytes'>, latest: number): void {
    this.latestNonce = response.nonce;
    const since = this.stagedSince ?? this.pendingSince ?? latest + 1;
    this.inFlight = { ...push, ...response, since, oldestMark: this.takenMark };
    this.responses.sent += 1;
    this.moveSince();
  }

  /** Returns false if the nonce is not that of the outstanding response; the answer is then ignored. */
  acked(nonce: string, error: string | undefined, now: number): boolean {
    const push = this.inFlight;
    if (!push || push.nonce !== nonce) return false;
    this.inFlight = undefined;
    this.responses[error === undefined ? 'acked' : 'rejected'] += 1;
    // A proxy drops the names that a response removes, even if it rejects the rest of the response.
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
    const { staged } = this;
    for (const name of staged ? staged.keys() : this.dirty.names()) {
      if (bytes >= CHUNK_BYTES && !this.isWhole) {
        this.isCut = true;
        break;
      }
      const resource = staged ? staged.get(name) : this.readWanted(name);
      if (staged) staged.delete(name);
      else this.dirty.delete(name);
      const isForced = this.forced.delete(name);
      const held = this.held.get(name);
      if (resource === 'pending') continue;
      if (!resource) {
        if (held) this.going.add(name);
        else if (this.isWanted(name) && !this.absent.has(name)) {
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

  private isWanted(name: string): boolean {
    return this.named.has(name) || (this.isWildcard && this.source.names().has(name));
  }

  private readWanted(name: string): EncodedResource | 'pending' | undefined {
    return this.isWanted(name) ? this.source.get(name) : undefined;
  }

  private markStale(): void {
    if (this.staleMark === undefined) return;
    this.markAll(this.pendingSince ?? 0);
    this.staleMark = undefined;
  }

  /** Moves the start of the pending changes to those that remain after a response was taken. */
  private moveSince(): void {
    if (this.staged?.size === 0) this.endStaging(this.isGoing);
    if (!this.isStaged && this.staleMark === undefined && this.dirty.size + this.going.size === 0)
      this.pendingSince = undefined;
  }

  /** `isPending`: some staged contents are still to be sent. */
  private endStaging(isPending: boolean): void {
    if (isPending) this.pendingSince = Math.min(this.stagedSince ?? Infinity, this.pendingSince ?? Infinity);
    if (this.pendingSince === Infinity) this.pendingSince = undefined;
    this.staged = undefined;
    this.stagedSince = undefined;
  }

  /** Returns all resources that the proxy should hold: those that are going stay until they may be removed. */
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
    this.staged?.delete(name);
  }
}
