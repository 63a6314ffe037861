import { errorText, type Clock, type Logger } from '@causeway/runtime';
import { readEndpointsName, RESOURCE_TYPES, type EncodedResource, type ResourceUpdate } from '@causeway/xds-server';
import { ResourceFile, type FileEntry } from './resource-file';

/** Change of a cache: resources of one type that were added, changed or removed. */
export interface CacheChange {
  readonly type: string;
  readonly names: readonly string[];
}

/** A cache as its readers see it: dataplanes, DNS, the local xDS server. */
export interface ResourceReader {
  /** `pending` where the zone was asked and has not answered; undefined where there is none. */
  get(type: string, name: string): EncodedResource | 'pending' | undefined;
  /** Names of the resources held. */
  names(type: string): ReadonlySet<string>;
  /** Asks the zone for these from now on, over restarts; what is held already is asked for too. */
  want(type: string, names: readonly string[]): void;
  /** No longer needed by the caller; it may be dropped when there is too much. */
  release(type: string, names: readonly string[]): void;
  /** Calls `listener` after each change until the returned function is called. */
  subscribe(listener: (change: CacheChange) => void): () => void;
  /** Returns the version of a resource that the dataplane has applied; undefined if it has applied none. */
  takenVersion(type: string, name: string): string | undefined;
}

/** Applies a change before it is acknowledged to the zone. */
export type Taker = (change: CacheChange) => Promise<string | undefined>;

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

/** The file is written anew when it is this many times larger than what it holds, and larger than a minimum. */
const [GARBAGE, SMALLEST_REWRITE] = [3, 4 * 1024 * 1024];
/** Entries of a record. */
const BATCH = 1_000;
const REWRITE_RETRY = 10_000;

const { cluster, endpoints, listener } = RESOURCE_TYPES;
/** Of these the zone lists what it is to have. */
const LISTED: readonly string[] = [cluster, listener];

const NOTHING: ReadonlySet<string> = new Set();

interface TypeState {
  readonly held: Map<string, EncodedResource>;
  /** Of those held. */
  readonly names: Set<string>;
  readonly taken: Map<string, string>;
  /** Asked for by name, the oldest question first; when, on `Clock.elapsed`, as long as there is no answer. */
  readonly wanted: Map<string, number | undefined>;
  /** Number of readers that need a name. */
  readonly needed: Map<string, number>;
}

/** Client through which the cache subscribes: `AdsClient`. */
export interface ResourceClient {
  subscribe(type: string, names: readonly string[]): void;
  unsubscribe(type: string, names: readonly string[]): void;
}

/**
 * All resources that the zone sent to one Dataplane of this machine, encoded. They are on disk before they are acknowledged, so that
 * a reboot serves them before any control plane answers (I14), and nothing that was withdrawn (I11).
 */
export class ResourceCache implements ResourceReader {
  private readonly types = new Map<string, TypeState>();
  private readonly listeners = new Set<(change: CacheChange) => void>();
  private readonly limits: CacheLimits;
  private taker: Taker = () => Promise.resolve(undefined);
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

  /** Reads what is on disk. A file that cannot be read is begun anew, with a line in the log. Rejects where none can be made. */
  static async open(path: string, options: ResourceCacheOptions): Promise<ResourceCache> {
    const { file, content } = await ResourceFile.open(path);
    const cache = new ResourceCache(file, options);
    if (content.corrupt !== undefined)
      options.logger.warn('cached resources are lost: their file was changed', { path, reason: content.corrupt });
    for (const entry of content.entries) cache.remember(entry);
    cache.connected(false);
    return cache;
  }

  /** Resources, names asked for, and their bytes in memory and on disk. */
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
    // `giveUpWaiting` must find it late, and a timer fires up to 1 ms early by the clock of `elapsed`.
    const isLate = !this.isConnected && this.options.clock.elapsed() - since >= this.limits.timeout - 1;
    return isLate ? undefined : 'pending';
  }

  names(type: string): ReadonlySet<string> {
    return this.types.get(type)?.names ?? NOTHING;
  }

  takenVersion(type: string, name: string): string | undefined {
    return this.types.get(type)?.taken.get(name);
  }

  want(type: string, names: readonly string[]): void {
    const { needed, wanted } = this.typeOf(type);
    const added = names.filter((name) => !wanted.has(name));
    for (const name of names) needed.set(name, (needed.get(name) ?? 0) + 1);
    this.ask(type, added);
  }

  release(type: string, names: readonly string[]): void {
    const { needed } = this.typeOf(type);
    for (const name of names) {
      const left = (needed.get(name) ?? 0) - 1;
      if (left > 0) needed.set(name, left);
      else needed.delete(name);
    }
  }

  /** Unsubscribes from names, and removes their resources, also from disk. */
  drop(type: string, names: readonly string[]): void {
    const { wanted, needed } = this.typeOf(type);
    const dropped = names.filter((name) => wanted.has(name));
    if (dropped.length === 0) return;
    for (const name of dropped) needed.delete(name);
    this.note({ type: 'unwant', of: type, names: dropped });
    this.note({ type: 'remove', of: type, names: dropped });
    this.client?.unsubscribe(type, dropped);
    this.tell({ type, names: dropped });
    this.settle({ type, names: dropped });
    void this.flush();
  }

  subscribe(of: (change: CacheChange) => void): () => void {
    this.listeners.add(of);
    return () => void this.listeners.delete(of);
  }

  /** Sets who applies changes from now on; current resources count as applied. */
  useTaker(taker: Taker): void {
    this.taker = taker;
    for (const state of this.types.values())
      for (const { name, version } of state.held.values()) state.taken.set(name, version);
  }

  /** Asks by this client from now on: for what is listed, and for every name asked for so far. */
  useClient(client: ResourceClient): void {
    this.client = client;
    for (const type of LISTED) client.subscribe(type, ['*']);
    for (const [type, { wanted }] of this.types) if (wanted.size > 0) client.subscribe(type, [...wanted.keys()]);
  }

  /** Whether a control plane is connected: an answer is waited for then. */
  connected(isConnected: boolean): void {
    if (this.isConnected && !isConnected) this.restartPatience();
    this.isConnected = isConnected;
    if (!isConnected) this.options.clock.after(this.limits.timeout, () => this.giveUpWaiting());
  }

  /** Name and version of what is held, for the first request of a stream. */
  *versions(type: string): Iterable<readonly [name: string, version: string]> {
    for (const { name, version } of this.types.get(type)?.held.values() ?? []) yield [name, version];
  }

  /** Takes an update of the zone. Resolves when it is on disk and applied; with the reason if it cannot be applied. */
  async receive(update: ResourceUpdate): Promise<string | undefined> {
    const bytes = update.resources.reduce((sum, resource) => sum + resource.bytes.length, 0);
    if (this.heldBytes + bytes > this.limits.bytes)
      return `the agent holds ${this.heldBytes} bytes, at most ${this.limits.bytes} are kept`;
    const { type, resources, removed } = update;
    const names = [...resources.map(({ name }) => name), ...removed];
    for (const resource of resources) this.note({ type: 'put', resource });
    if (removed.length > 0) this.note({ type: 'remove', of: type, names: removed });
    this.followEndpoints(type, resources);
    await this.flush();
    const change = { type, names };
    this.tell(change);
    const refusal = await this.taker(change);
    if (refusal === undefined) this.settle(change);
    return refusal;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.flush();
    await this.file.close();
  }

  private settle({ type, names }: CacheChange): void {
    const { held, taken } = this.typeOf(type);
    for (const name of names) {
      const resource = held.get(name);
      if (resource) taken.set(name, resource.version);
      else taken.delete(name);
    }
  }

  /** The endpoints of a cluster are asked for with it: a plane that begins without control planes needs them. */
  private followEndpoints(type: string, resources: readonly EncodedResource[]): void {
    if (type !== cluster) return;
    const { wanted } = this.typeOf(endpoints);
    const named = resources.flatMap(({ endpointsName }) => endpointsName ?? []);
    this.ask(
      endpoints,
      [...new Set(named)].filter((name) => !wanted.has(name)),
    );
  }

  private ask(type: string, names: readonly string[]): void {
    const asked = names.slice(0, this.roomFor(names.length));
    if (asked.length < names.length)
      this.options.logger.warn('too many names are asked for: some are not', { type, names: names.length });
    if (asked.length === 0) return;
    this.note({ type: 'want', of: type, names: asked });
    this.client?.subscribe(type, asked);
    if (!this.isConnected) this.options.clock.after(this.limits.timeout, () => this.giveUpWaiting());
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

  private restartPatience(): void {
    const now = this.options.clock.elapsed();
    for (const { wanted } of this.types.values())
      for (const [name, since] of wanted) if (since !== undefined) wanted.set(name, now);
  }

  /** Readers hear that names which were waited for are unknown. */
  private giveUpWaiting(): void {
    if (this.isConnected || this.isClosed) return;
    for (const [type, { wanted }] of this.types) {
      const names = [...wanted].flatMap(([name, since]) =>
        since !== undefined && this.get(type, name) === undefined ? [name] : [],
      );
      if (names.length > 0) this.tell({ type, names });
    }
  }

  private tell(change: CacheChange): void {
    for (const each of this.listeners) each(change);
  }

  private note(entry: FileEntry): void {
    this.remember(entry);
    this.unwritten.push(entry);
  }

  /** Brings memory to what an entry says. */
  private remember(entry: FileEntry): void {
    if (entry.type === 'put') return this.put(entry.resource);
    const { held, names, wanted } = this.typeOf(entry.of);
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
    const { held, names, wanted } = this.typeOf(type);
    names.add(name);
    this.heldBytes += bytes.length - (held.get(name)?.bytes.length ?? 0);
    const endpointsName = readEndpointsName(type, bytes);
    held.set(name, { ...resource, ...(endpointsName !== undefined && { endpointsName }) });
    if (wanted.has(name)) wanted.set(name, undefined);
  }

  private typeOf(type: string): TypeState {
    const known = this.types.get(type);
    if (known) return known;
    const state = { held: new Map(), names: new Set<string>(), taken: new Map(), wanted: new Map(), needed: new Map() };
    this.types.set(type, state);
    return state;
  }

  /** Resolves when what was noted before is on disk, or the disk has failed. What comes while one write runs is the next one. */
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
    return this.file.bytes > Math.max(SMALLEST_REWRITE, GARBAGE * this.heldBytes);
  }

  /** Rather nothing on disk than what the zone has taken back. */
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
