import { errorText, type Clock, type Logger } from '@causeway/runtime';
import { readEndpointsName, RESOURCE_TYPES, type EncodedResource, type ResourceUpdate } from '@causeway/xds-server';
import { ResourceFile, type FileEntry } from './resource-file';
import type { CacheChange, ChangeApplier, ResourceReader } from './resource-reader';

export interface ResourceCacheOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits?: Partial<CacheLimits>;
}

export interface CacheLimits {
  /** Maximum number of subscribed names, of all types; a zone accepts 50,000 a stream. */
  readonly names: number;
  /** Maximum size of resources, bytes. */
  readonly bytes: number;
  /** Timeout of an answer while no control plane is connected, ms. */
  readonly timeout: number;
}

const DEFAULT_LIMITS: CacheLimits = { names: 40_000, bytes: 256 * 1024 * 1024, timeout: 1_000 };

/** The file is rewritten when it is this many times larger than its content, and larger than the minimum, bytes. */
const [REWRITE_RATIO, MIN_REWRITE_BYTES] = [3, 4 * 1024 * 1024];
/** Maximum number of entries in a record. */
const BATCH = 1_000;
const REWRITE_RETRY = 10_000;

const { cluster, endpoints, listener } = RESOURCE_TYPES;
/** Types that are subscribed by wildcard: the zone decides which resources are sent. */
const WILDCARD_TYPES: readonly string[] = [cluster, listener];

const NO_NAMES: ReadonlySet<string> = new Set();

interface TypeState {
  readonly held: Map<string, EncodedResource>;
  /** Names of `held`. */
  readonly names: Set<string>;
  readonly applied: Map<string, string>;
  /** Subscribed names, oldest first, with the time of subscription (`Clock.elapsed`) while there is no answer. */
  readonly wanted: Map<string, number | undefined>;
  /** Number of readers per name. */
  readonly needed: Map<string, number>;
}

/** Client through which the cache subscribes: `AdsClient`. */
export interface ResourceClient {
  subscribe(type: string, names: readonly string[]): void;
  unsubscribe(type: string, names: readonly string[]): void;
}

/**
 * All resources that the zone sent to one Dataplane of this machine, encoded. They are written to disk before they are
 * acked, so that a reboot serves them before any control plane answers (I14), but nothing that was withdrawn (I11).
 */
export class ResourceCache implements ResourceReader {
  private readonly types = new Map<string, TypeState>();
  private readonly listeners = new Set<(change: CacheChange) => void>();
  private readonly limits: CacheLimits;
  private applier: ChangeApplier = () => Promise.resolve(undefined);
  private client: ResourceClient | undefined;
  private isConnected = false;
  private heldBytes = 0;
  private wantedNames = 0;
  private unwritten: FileEntry[] = [];
  private writing: Promise<void> | undefined;
  private nextWrite: Promise<void> | undefined;
  private mustRewrite = false;
  private isClosed = false;
  /** Why the disk does not hold the content of the memory. */
  diskFailure: string | undefined;

  private constructor(
    private readonly file: ResourceFile,
    private readonly options: ResourceCacheOptions,
  ) {
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
  }

  /** Reads the cache. A corrupt file is replaced and logged. Rejects if none can be created. */
  static async open(path: string, options: ResourceCacheOptions): Promise<ResourceCache> {
    const { file, content } = await ResourceFile.open(path);
    const cache = new ResourceCache(file, options);
    if (content.corrupt !== undefined)
      options.logger.warn('cached resources are lost: their file was changed', { path, reason: content.corrupt });
    for (const entry of content.entries) cache.applyEntry(entry);
    cache.connected(false);
    return cache;
  }

  /** Number of resources and subscribed names, and bytes in memory and on disk. */
  get size(): { readonly resources: number; readonly names: number; readonly bytes: number; readonly disk: number } {
    let resources = 0;
    for (const { held } of this.types.values()) resources += held.size;
    return { resources, names: this.wantedNames, bytes: this.heldBytes, disk: this.file.bytes };
  }

  get(type: string, name: string): EncodedResource | 'pending' | undefined {
    const state = this.types.get(type);
    const held = state?.held.get(name);
    if (held) return held;
    const since = state?.wanted.get(name);
    if (since === undefined) return undefined;
    // 1 ms less: a timer may fire early, and `expireWaiting` must find the name late.
    const isLate = !this.isConnected && this.options.clock.elapsed() - since >= this.limits.timeout - 1;
    return isLate ? undefined : 'pending';
  }

  names(type: string): ReadonlySet<string> {
    return this.types.get(type)?.names ?? NO_NAMES;
  }

  /** Returns the names that are subscribed, besides those of wildcards. */
  listWanted(type: string): Iterable<string> {
    return this.types.get(type)?.wanted.keys() ?? [];
  }

  /** Returns whether the zone has answered that a subscribed resource does not exist. */
  isAbsent(type: string, name: string): boolean {
    const state = this.types.get(type);
    return state?.wanted.has(name) === true && state.wanted.get(name) === undefined && !state.held.has(name);
  }

  appliedVersion(type: string, name: string): string | undefined {
    return this.types.get(type)?.applied.get(name);
  }

  want(type: string, names: readonly string[]): void {
    const { needed, wanted } = this.getOrCreateType(type);
    const added = names.filter((name) => !wanted.has(name));
    for (const name of names) needed.set(name, (needed.get(name) ?? 0) + 1);
    this.subscribeTo(type, added);
  }

  release(type: string, names: readonly string[]): void {
    const { needed } = this.getOrCreateType(type);
    for (const name of names) {
      const left = (needed.get(name) ?? 0) - 1;
      if (left > 0) needed.set(name, left);
      else needed.delete(name);
    }
  }

  /** Unsubscribes from names, and removes their resources, also from disk. */
  drop(type: string, names: readonly string[]): void {
    const { wanted, needed } = this.getOrCreateType(type);
    const dropped = names.filter((name) => wanted.has(name));
    if (dropped.length === 0) return;
    for (const name of dropped) needed.delete(name);
    this.record({ type: 'unwant', of: type, names: dropped });
    this.record({ type: 'remove', of: type, names: dropped });
    this.client?.unsubscribe(type, dropped);
    this.notify({ type, names: dropped });
    this.markApplied({ type, names: dropped });
    void this.flush();
  }

  subscribe(of: (change: CacheChange) => void): () => void {
    this.listeners.add(of);
    return () => void this.listeners.delete(of);
  }

  /** Sets the function that applies changes; current resources count as applied. */
  useApplier(applier: ChangeApplier): void {
    this.applier = applier;
    for (const state of this.types.values())
      for (const { name, version } of state.held.values()) state.applied.set(name, version);
  }

  /** Subscribes through this client to all wildcard types and subscribed names. */
  useClient(client: ResourceClient): void {
    this.client = client;
    for (const type of WILDCARD_TYPES) client.subscribe(type, ['*']);
    for (const [type, { wanted }] of this.types) if (wanted.size > 0) client.subscribe(type, [...wanted.keys()]);
  }

  /** Sets whether a control plane is connected: only then pending names wait without timeout. */
  connected(isConnected: boolean): void {
    if (this.isConnected && !isConnected) this.restartTimeouts();
    this.isConnected = isConnected;
    if (!isConnected) this.options.clock.after(this.limits.timeout, () => this.expireWaiting());
  }

  /** Name and version of cached resources, for the first request of a stream. */
  *versions(type: string): Iterable<readonly [name: string, version: string]> {
    for (const { name, version } of this.types.get(type)?.held.values() ?? []) yield [name, version];
  }

  /** Stores an update of the zone. Resolves when it is on disk and applied, with the reason if it cannot be applied. */
  async receive(update: ResourceUpdate): Promise<string | undefined> {
    const bytes = update.resources.reduce((sum, resource) => sum + resource.bytes.length, 0);
    if (this.heldBytes + bytes > this.limits.bytes)
      return `the agent holds ${this.heldBytes} bytes, at most ${this.limits.bytes} are kept`;
    const { type, resources, removed } = update;
    const names = [...resources.map(({ name }) => name), ...removed];
    for (const resource of resources) this.record({ type: 'put', resource });
    if (removed.length > 0) this.record({ type: 'remove', of: type, names: removed });
    this.followEndpoints(type, resources);
    await this.flush();
    const change = { type, names };
    this.notify(change);
    const refusal = await this.applier(change);
    if (refusal === undefined) this.markApplied(change);
    return refusal;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.flush();
    await this.file.close();
  }

  private markApplied({ type, names }: CacheChange): void {
    const { held, applied } = this.getOrCreateType(type);
    for (const name of names) {
      const resource = held.get(name);
      if (resource) applied.set(name, resource.version);
      else applied.delete(name);
    }
  }

  /** Subscribes to the endpoints of clusters: a dataplane that starts without control planes needs them. */
  private followEndpoints(type: string, resources: readonly EncodedResource[]): void {
    if (type !== cluster) return;
    const { wanted } = this.getOrCreateType(endpoints);
    const named = resources.flatMap(({ endpointsName }) => endpointsName ?? []);
    this.subscribeTo(
      endpoints,
      [...new Set(named)].filter((name) => !wanted.has(name)),
    );
  }

  private subscribeTo(type: string, names: readonly string[]): void {
    const asked = names.slice(0, this.roomFor(names.length));
    if (asked.length < names.length)
      this.options.logger.warn('too many names are requested: some are left out', { type, names: names.length });
    if (asked.length === 0) return;
    this.record({ type: 'want', of: type, names: asked });
    this.client?.subscribe(type, asked);
    if (!this.isConnected) this.options.clock.after(this.limits.timeout, () => this.expireWaiting());
    void this.flush();
  }

  /** Returns how many of `count` names may be added, after dropping names that no reader needs. */
  private roomFor(count: number): number {
    const excess = this.wantedNames + count - this.limits.names;
    if (excess > 0) this.dropUnneeded(excess);
    return Math.max(0, Math.min(count, this.limits.names - this.wantedNames));
  }

  private dropUnneeded(most: number): void {
    let left = most;
    for (const [type, { wanted, needed }] of this.types) {
      const names: string[] = [];
      for (const name of wanted.keys()) {
        if (left === 0) break;
        if (needed.has(name)) continue;
        names.push(name);
        left -= 1;
      }
      if (names.length === 0) continue;
      this.drop(type, names);
    }
  }

  private restartTimeouts(): void {
    const now = this.options.clock.elapsed();
    for (const { wanted } of this.types.values())
      for (const [name, since] of wanted) if (since !== undefined) wanted.set(name, now);
  }

  /** Notifies readers of pending names that have timed out. */
  private expireWaiting(): void {
    if (this.isConnected || this.isClosed) return;
    for (const [type, { wanted }] of this.types) {
      const names = [...wanted].flatMap(([name, since]) =>
        since !== undefined && this.get(type, name) === undefined ? [name] : [],
      );
      if (names.length > 0) this.notify({ type, names });
    }
  }

  private notify(change: CacheChange): void {
    for (const each of this.listeners) each(change);
  }

  private record(entry: FileEntry): void {
    this.applyEntry(entry);
    this.unwritten.push(entry);
  }

  /** Applies an entry to memory. */
  private applyEntry(entry: FileEntry): void {
    if (entry.type === 'put') return this.put(entry.resource);
    const { held, names, wanted } = this.getOrCreateType(entry.of);
    for (const name of entry.names) {
      if (entry.type === 'want' && !wanted.has(name)) {
        wanted.set(name, held.has(name) ? undefined : this.options.clock.elapsed());
        this.wantedNames += 1;
      } else if (entry.type === 'unwant' && wanted.delete(name)) {
        this.wantedNames -= 1;
      } else if (entry.type === 'remove') {
        this.heldBytes -= held.get(name)?.bytes.length ?? 0;
        held.delete(name);
        names.delete(name);
        if (wanted.has(name)) wanted.set(name, undefined);
      }
    }
  }

  private put(resource: Omit<EncodedResource, 'endpointsName'>): void {
    const { type, name, bytes } = resource;
    const { held, names, wanted } = this.getOrCreateType(type);
    names.add(name);
    this.heldBytes += bytes.length - (held.get(name)?.bytes.length ?? 0);
    const endpointsName = readEndpointsName(type, bytes);
    held.set(name, { ...resource, ...(endpointsName !== undefined && { endpointsName }) });
    if (wanted.has(name)) wanted.set(name, undefined);
  }

  private getOrCreateType(type: string): TypeState {
    const known = this.types.get(type);
    if (known) return known;
    const names = new Set<string>();
    const state: TypeState = { held: new Map(), names, applied: new Map(), wanted: new Map(), needed: new Map() };
    this.types.set(type, state);
    return state;
  }

  /** Writes recorded entries; resolves when they are on disk, or the disk has failed. */
  private flush(): Promise<void> {
    if (this.unwritten.length === 0) return this.writing ?? Promise.resolve();
    if (this.writing) {
      this.nextWrite ??= this.writing.then(() => {
        this.nextWrite = undefined;
        return this.flush();
      });
      return this.nextWrite;
    }
    this.writing = this.writeOut().finally(() => (this.writing = undefined));
    return this.writing;
  }

  private async writeOut(): Promise<void> {
    const entries = this.unwritten;
    this.unwritten = [];
    try {
      if (this.mustRewrite || this.isLarge()) await this.file.replace(this.entries());
      else await this.file.append(entries);
      this.mustRewrite = false;
      this.diskFailure = undefined;
    } catch (error) {
      await this.failed(errorText(error));
    }
  }

  private isLarge(): boolean {
    return this.file.bytes > Math.max(MIN_REWRITE_BYTES, REWRITE_RATIO * this.heldBytes);
  }

  /** Discards the file: withdrawn resources must not come back after a restart. */
  private async failed(reason: string): Promise<void> {
    if (this.diskFailure !== reason)
      this.options.logger.error('received resources cannot be written: a restart would begin without them', { reason });
    this.diskFailure = reason;
    this.mustRewrite = true;
    await this.file.discard().catch(() => undefined);
    this.options.clock.after(REWRITE_RETRY, () => {
      if (this.isClosed || !this.mustRewrite) return;
      this.unwritten.push({ type: 'want', of: cluster, names: [] });
      void this.flush();
    });
  }

  private *entries(): Iterable<readonly FileEntry[]> {
    let batch: FileEntry[] = [];
    for (const [of, { held, wanted }] of this.types) {
      if (wanted.size > 0) batch.push({ type: 'want', of, names: [...wanted.keys()] });
      for (const resource of held.values()) {
        batch.push({ type: 'put', resource });
        if (batch.length < BATCH) continue;
        yield batch;
        batch = [];
      }
    }
    if (batch.length > 0) yield batch;
  }
}
