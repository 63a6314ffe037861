import { randomUUID } from 'node:crypto';
import { ChannelCredentials, type ServerCredentials } from '@grpc/grpc-js';
import { getRegistry } from '@causeway/meshes';
import { silentLogger, systemClock } from '@causeway/runtime';
import type { MemoryDisk } from '@causeway/store/testing';
import { noAuthentication, type GlobalSync, type KindReport, type ZoneSync, type ZoneSyncOptions } from '@causeway/kds';
import { createGlobalSync, createZoneSync, type GlobalSyncOptions } from '@causeway/kds/testing';
import type { PlaneState } from './plane-state';
import { TestPlane } from './test-plane';
import { meshesOf } from './meshes';
import { untilSoon } from './until';

/** Rates for tests: zones come back within milliseconds, and a clock may stand still. */
const OFTEN = { burst: 1_000_000, perSecond: 1_000 };
const UNLIMITED = { handshakes: OFTEN, streams: OFTEN, address: OFTEN };

/** A global with its sync server. */
export class TestGlobal extends TestPlane {
  sync: GlobalSync | undefined;
  port = 0;
  /** Plain text without. */
  credentials: ServerCredentials | undefined;

  constructor(
    private readonly overrides: Partial<GlobalSyncOptions> = {},
    home?: MemoryDisk | PlaneState,
  ) {
    super({ role: 'global' }, home);
  }

  get sessions(): PlaneState['sessions'] {
    return this.state.sessions;
  }

  /** Resolves when no stream of the zone is open here. */
  async left(zone: string): Promise<void> {
    await untilSoon(() => this.sync?.reports().has(zone) !== true);
  }

  /** Waits until all that this global sends and a zone answers has been answered, then the report of one kind. */
  async report(zone: string, kind: string, direction: 'down' | 'up' = 'down'): Promise<KindReport> {
    const find = (): KindReport | undefined =>
      this.sync
        ?.reports()
        .get(zone)
        ?.find((report) => report.kind === kind && report.direction === direction);
    let report: KindReport | undefined;
    await untilSoon(() => {
      report = find();
      return report?.behindSince === undefined && (report?.acked ?? report?.appliedAt ?? 0) !== 0;
    });
    if (!report) throw new Error(`no report of ${kind}`);
    return report;
  }

  /** Listens; again on the same port after `cut`. */
  async serve(): Promise<void> {
    this.sync = createGlobalSync({
      store: this.store,
      sessions: this.sessions,
      index: this.index,
      meshes: meshesOf(this.index),
      registry: getRegistry(this.index),
      clock: systemClock,
      logger: silentLogger,
      instance: 'global-1',
      version: '0.0.0',
      auth: noAuthentication,
      maintenance: this.store,
      attempts: UNLIMITED,
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
  private session: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  private readonly holder = randomUUID();
  private epoch = 0;
  sync: ZoneSync | undefined;

  constructor(
    readonly zone: string,
    private readonly overrides: Partial<ZoneSyncOptions> = {},
    home?: MemoryDisk | PlaneState,
  ) {
    super({ role: 'zone', zone, federated: true }, home);
  }

  /** Takes the lead of the zone, unless it has it, and a session with this global. */
  async join(global: { readonly port: number }): Promise<void> {
    const { lease } = this.state;
    const { epoch } = await lease.readEpoch();
    this.epoch = (await lease.takeOver(epoch, this.holder, 1_000_000)) ?? this.epoch;
    if (this.epoch === 0) throw new Error(`another replica of ${this.zone} leads`);
    const stop = new AbortController();
    this.sync = createZoneSync({
      zone: this.zone,
      storeId: `store-of-${this.zone}`,
      store: this.store,
      index: this.index,
      registry: getRegistry(this.index),
      clock: systemClock,
      logger: silentLogger,
      addresses: [`127.0.0.1:${global.port}`],
      credentials: ChannelCredentials.createInsecure(),
      term: { epoch: this.epoch, holder: this.holder, signal: stop.signal },
      version: '0.0.0',
      maintenance: this.store,
      backoff: { base: 5, cap: 50 },
      ...this.overrides,
    });
    this.session = { stop, ended: this.sync.run() };
  }

  /** Its lease runs out, and it does not know: another replica may lead while this one goes on. */
  lapse(): Promise<void> {
    return this.state.lease.release(this.epoch, this.holder);
  }

  async leave(): Promise<void> {
    this.session?.stop.abort();
    await this.session?.ended;
    this.session = undefined;
  }

  override async close(): Promise<void> {
    await this.leave();
    await this.lapse();
    await super.close();
  }
}

/** A global, and two zones that have joined it. */
export interface JoinedMesh {
  readonly global: TestGlobal;
  readonly east: TestZone;
  readonly west: TestZone;
  close(): Promise<void>;
}

/** A global with the Mesh `default`, and zones that know it: from now on creation times are exact. */
export async function joinedMesh(): Promise<JoinedMesh> {
  const global = new TestGlobal();
  const [east, west] = [new TestZone('east'), new TestZone('west')];
  await global.put('Mesh', 'default', {});
  await global.serve();
  await Promise.all([east.join(global), west.join(global)]);
  await Promise.all([east, west].map((zone) => zone.holds(global.id('Mesh', 'default'))));
  const close = async (): Promise<void> => {
    await Promise.all([east.close(), west.close()]);
    await global.close();
  };
  return { global, east, west, close };
}
