import { ChannelCredentials, type ServerCredentials } from '@grpc/grpc-js';
import { coreKinds } from '@causeway/kinds';
import {
  computedLabels,
  identityKey,
  ownZone,
  type ControlPlane,
  type Identity,
  type JsonObject,
  type Labels,
  type Resource,
} from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import {
  followStore,
  MemoryDisk,
  MemoryLease,
  MemorySessions,
  MemoryStore,
  ResourceIndex,
  type Change,
} from '@causeway/store';
import {
  admitEverybody,
  createGlobalSync,
  createZoneSync,
  type GlobalSync,
  type GlobalSyncOptions,
  type KindReport,
  type ZoneSync,
  type ZoneSyncOptions,
} from '@causeway/sync-kds';

const DEFAULTS = { mesh: 'default', namespace: 'default' };

/** A control plane of a test: a store in memory, its index, and what writes to it. */
export class TestPlane {
  readonly store: MemoryStore;
  readonly index = new ResourceIndex();
  private readonly stop = new AbortController();
  private readonly following: Promise<void>;

  constructor(
    readonly cp: ControlPlane,
    readonly disk = new MemoryDisk(),
  ) {
    this.store = new MemoryStore(disk);
    this.following = followStore(this.store, this.index, {
      clock: systemClock,
      logger: silentLogger,
      signal: this.stop.signal,
    });
  }

  /** What a resource made here is called. */
  id(kindName: string, name: string, at: Partial<Identity> = {}): Identity {
    const kind = coreKinds.kind(kindName);
    if (!kind) throw new Error(`no kind ${kindName}`);
    return {
      kind: kindName,
      name,
      mesh: kind.scope === 'mesh' ? DEFAULTS.mesh : '',
      namespace: kind.namespaced ? DEFAULTS.namespace : '',
      zone: kind.sync.zoneInIdentity ? ownZone(this.cp) : '',
      ...at,
    };
  }

  put(kindName: string, name: string, spec: JsonObject, labels: Labels = {}): Promise<number> {
    const id = this.id(kindName, name);
    const kind = coreKinds.kind(kindName);
    if (!kind) throw new Error(`no kind ${kindName}`);
    return this.write([
      { type: 'put', id, expect: 'any', labels: { ...labels, ...computedLabels(kind, id, this.cp) }, spec },
    ]);
  }

  delete(kindName: string, name: string, at: Partial<Identity> = {}): Promise<number> {
    return this.write([{ type: 'delete', id: this.id(kindName, name, at), expect: 'any' }]);
  }

  async write(changes: readonly Change[]): Promise<number> {
    const { revision } = await this.store.write({ changes, onRefusal: 'abort' });
    return revision;
  }

  get(id: Identity): Resource | undefined {
    return this.index.get(id);
  }

  /** Names of all of a kind as zone/name, sorted. */
  names(kind: string): string[] {
    return [...this.index.ofKind(kind)].map(({ id }) => (id.zone === '' ? id.name : `${id.zone}/${id.name}`)).sort();
  }

  /** Resolves when the condition holds; it is looked at after each change of the index. */
  async until(condition: () => boolean): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve) => {
      const unsubscribe = this.index.subscribe(() => {
        if (!condition()) return;
        unsubscribe();
        resolve();
      });
    });
  }

  /** Resolves with the resource once it is there and as wanted. */
  async holds(id: Identity, as: (resource: Resource) => boolean = () => true): Promise<Resource> {
    await this.until(() => {
      const held = this.get(id);
      return held !== undefined && as(held);
    });
    const held = this.index.byIdentityKey(identityKey(id));
    if (!held) throw new Error('gone again');
    return held;
  }

  async lacks(id: Identity): Promise<void> {
    await this.until(() => this.get(id) === undefined);
  }

  async close(): Promise<void> {
    this.stop.abort();
    await this.store.close();
    await this.following;
  }
}

/** A global with its sync server. */
export class TestGlobal extends TestPlane {
  readonly sessions: MemorySessions;
  sync: GlobalSync | undefined;
  port = 0;
  /** Plain text without. */
  credentials: ServerCredentials | undefined;

  constructor(
    private readonly overrides: Partial<GlobalSyncOptions> = {},
    disk?: MemoryDisk,
  ) {
    super({ role: 'global' }, disk);
    this.sessions = new MemorySessions(this.disk);
  }

  /** Resolves when no stream of the zone is open here. */
  async left(zone: string): Promise<void> {
    while (this.sync?.figures().has(zone)) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Waits until all that this global sends and a zone answers has been answered, then the report of one kind. */
  async report(zone: string, kind: string, direction: 'down' | 'up' = 'down'): Promise<KindReport> {
    const find = (): KindReport | undefined =>
      this.sync
        ?.figures()
        .get(zone)
        ?.find((report) => report.kind === kind && report.direction === direction);
    for (;;) {
      const report = find();
      if (report && report.behindSince === undefined && (report.acked ?? report.appliedAt) !== 0) return report;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Listens; again on the same port after `cut`. */
  async serve(): Promise<void> {
    this.sync = createGlobalSync({
      store: this.store,
      sessions: this.sessions,
      index: this.index,
      registry: coreKinds,
      clock: systemClock,
      logger: silentLogger,
      instance: 'global-1',
      version: '0.0.0',
      auth: admitEverybody,
      upkeep: this.store,
      ...this.overrides,
    });
    this.port = await this.sync.bind('127.0.0.1', this.port, this.credentials);
  }

  /** Stops serving: all zones are cut off. */
  async cut(): Promise<void> {
    await this.sync?.close();
    this.sync = undefined;
  }

  override async close(): Promise<void> {
    await this.cut();
    await super.close();
  }
}

/** A zone; `join` starts its sync. */
export class TestZone extends TestPlane {
  private readonly lease: MemoryLease;
  private session: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  sync: ZoneSync | undefined;

  constructor(
    readonly zone: string,
    private readonly overrides: Partial<ZoneSyncOptions> = {},
    disk?: MemoryDisk,
  ) {
    super({ role: 'zone', zone, federated: true }, disk);
    this.lease = new MemoryLease(this.disk);
  }

  async join(global: { readonly port: number }): Promise<void> {
    const { epoch } = await this.lease.readEpoch();
    const holder = `${this.zone}-1`;
    const next = (await this.lease.takeOver(epoch, holder, 1_000_000)) ?? epoch;
    const stop = new AbortController();
    this.sync = createZoneSync({
      zone: this.zone,
      storeId: `store-of-${this.zone}`,
      store: this.store,
      index: this.index,
      registry: coreKinds,
      clock: systemClock,
      logger: silentLogger,
      address: `127.0.0.1:${global.port}`,
      credentials: ChannelCredentials.createInsecure(),
      term: { epoch: next, holder, signal: stop.signal },
      version: '0.0.0',
      upkeep: this.store,
      backoff: { base: 5, cap: 50 },
      ...this.overrides,
    });
    this.session = { stop, ended: this.sync.run() };
  }

  async leave(): Promise<void> {
    this.session?.stop.abort();
    await this.session?.ended;
    this.session = undefined;
  }

  override async close(): Promise<void> {
    await this.leave();
    await super.close();
  }
}
