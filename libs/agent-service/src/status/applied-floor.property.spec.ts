import { ProxyDirectory } from '@causeway/controllers';
import { Unavailable } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import type { ProxyReport } from '@causeway/store';
import { MemoryDisk, MemoryProxySessions } from '@causeway/store/testing';
import fc from 'fast-check';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import type { ObservedStream } from './proxy-facts';
import { HEARTBEAT_INTERVAL, ProxyReporter } from './proxy-reporter';

const HOUR = 3_600_000;
/** A stream whose proxy is gone without a word ends by then. */
const HALF_OPEN = 100_000;
const LIFE = 24 * HOUR;

/** A proxy as it really is. */
interface Proxy {
  readonly id: string;
  readonly hasCertificate: boolean;
  /** The oldest revision whose changes it may lack; Infinity: it holds nothing. */
  lacks: number;
  /** Time until which it can use the configuration that it holds, ms. */
  usableUntil: number;
}

interface Stream {
  readonly proxy: Proxy;
  readonly since: number;
  /** The revision that the proxy applies, as far as the replica knows; -1: not known yet. */
  applied: number;
  /** The proxy is gone without a word since. */
  brokenAt?: number;
}

/** A replica of a control plane: its copy of the log, and its proxies. */
class Replica {
  readonly streams = new Set<Stream>();
  readonly reporter: ProxyReporter;
  revision: number;
  cutAt: number | undefined;
  private isListening = false;
  private readonly listeners = new Set<(stream: ObservedStream) => void>();
  private readonly moving = new Set<(proxy: string) => void>();
  readonly generation = 0;

  constructor(
    readonly world: World,
    readonly instance: string,
  ) {
    this.revision = world.head;
    const { clock } = world;
    const store = { report: (report: ProxyReport) => this.report(report) };
    this.reporter = new ProxyReporter({ observed: this, store, instance, clock, logger: silentLogger });
  }

  get position() {
    return { revision: this.revision, point: { incarnation: 'i', revision: this.revision } };
  }

  findAuthorities(): undefined {
    return undefined;
  }

  ids(): Iterable<string> {
    return new Set([...this.streams].map(({ proxy }) => proxy.id));
  }

  listStreams(proxy: string): readonly ObservedStream[] {
    return [...this.streams].filter((stream) => stream.proxy.id === proxy).map((stream) => this.observed(stream));
  }

  onMoved(listener: (proxy: string) => void): () => void {
    this.moving.add(listener);
    return () => void this.moving.delete(listener);
  }

  moved({ proxy }: Stream): void {
    for (const listener of this.moving) listener(proxy.id);
  }

  onLeaving(listener: (stream: ObservedStream) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** A replica reports before it listens. */
  async listens(): Promise<boolean> {
    if (this.isListening || this.cutAt !== undefined) return this.isListening;
    await this.reporter.report();
    return (this.isListening = true);
  }

  leave(stream: Stream): void {
    if (!this.streams.delete(stream)) return;
    this.moved(stream);
    for (const listener of this.listeners) listener(this.observed(stream));
  }

  private async report(report: ProxyReport): Promise<boolean> {
    if (this.cutAt !== undefined) throw new Unavailable('cut off');
    const isKnown = await this.world.sessions.report(report);
    // A proxy that a replica with a store serves has a certificate that is renewed, and counts as seen.
    for (const { proxy, brokenAt } of this.streams) if (brokenAt === undefined) this.world.renew(proxy);
    return isKnown;
  }

  private observed({ proxy, since, applied }: Stream): ObservedStream {
    const type = {
      type: RESOURCE_TYPES.listener,
      isWildcard: true,
      subscribed: 0,
      held: 1,
      ackedRevision: applied,
      appliedRevision: applied,
      isAtRest: applied === this.revision,
      responses: { sent: 1, acked: 1, rejected: 0 },
      rejected: [],
    };
    return {
      id: proxy.id,
      node: proxy.id,
      address: '',
      userAgent: '',
      form: 'delta',
      since,
      types: [type],
      refused: [],
      ...(proxy.hasCertificate && { certificate: { notAfter: proxy.usableUntil } }),
    };
  }
}

/** Replicas, proxies and a log, driven by random numbers. */
class World {
  readonly clock = new FakeClock(1_000_000_000);
  readonly sessions = new MemoryProxySessions(new MemoryDisk({ clock: this.clock }));
  readonly directory = new ProxyDirectory({ store: this.sessions, clock: this.clock, logger: silentLogger });
  head = 10;
  readonly proxies: readonly Proxy[] = [0, 1, 2].map((i) => ({
    id: `p${i}`,
    hasCertificate: i > 0,
    lacks: Infinity,
    usableUntil: 0,
  }));
  replicas: Replica[] = [];
  private made = 0;

  constructor() {
    this.replicas = [this.replica(), this.replica()];
  }

  renew(proxy: Proxy): void {
    proxy.usableUntil = this.clock.now() + LIFE;
  }

  async act(action: string, i: number, j: number): Promise<void> {
    const replica = this.replicas[i % 2];
    const proxy = this.proxies[j % 3];
    if (!replica || !proxy) return;
    const [stream] = [...replica.streams].filter((one) => one.proxy === proxy && one.brokenAt === undefined);
    switch (action) {
      case 'write':
        return void (this.head += 1 + (i % 3));
      case 'catch up':
        return this.catchUp(replica, j);
      case 'connect':
        if (await replica.listens()) this.connect(replica, proxy);
        return;
      case 'take':
        // The proxy applies the response, and its ack is lost.
        return void (stream && (proxy.lacks = replica.revision + 1));
      case 'ack':
        if (!stream) return;
        proxy.lacks = (stream.applied = replica.revision) + 1;
        return replica.moved(stream);
      case 'leave':
        return stream && replica.leave(stream);
      case 'break':
        return void (stream && (stream.brokenAt = this.clock.now()));
      case 'cut':
        return void (replica.cutAt ??= this.clock.now());
      case 'heal':
        return void (replica.cutAt = undefined);
      case 'kill':
        this.replicas[i % 2] = this.replica();
        return;
      case 'stop':
        for (const one of [...replica.streams]) replica.leave(one);
        this.replicas[i % 2] = this.replica();
        return replica.reporter.end();
      case 'wait':
        return this.pass(j < 3 ? 1_000 : HEARTBEAT_INTERVAL);
      case 'wait long':
        for (let passed = 0; passed < 30_000; passed += HEARTBEAT_INTERVAL) await this.pass(HEARTBEAT_INTERVAL);
        return;
      default:
        for (let passed = 0; passed < 5; passed++) await this.pass(HOUR);
    }
  }

  /** Computes the revision that is applied by every proxy which may still use its configuration; compares it with the directory's. */
  async check(): Promise<void> {
    await this.directory.refresh();
    const floor = this.directory.ackWatermark('i');
    for (const { id, lacks, usableUntil } of this.proxies)
      if (lacks < Infinity && usableUntil > this.clock.now() && lacks <= floor)
        throw new Error(`${id} may lack the changes of ${lacks}, and the floor is ${floor}`);
  }

  private replica(): Replica {
    return new Replica(this, `replica-${++this.made}`);
  }

  private async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    const now = this.clock.now();
    for (const [i, replica] of this.replicas.entries()) {
      if (replica.cutAt !== undefined && now - replica.cutAt > 20 * HOUR) this.replicas[i] = this.replica();
      for (const stream of [...replica.streams])
        if (stream.brokenAt !== undefined && now - stream.brokenAt >= Math.min(HALF_OPEN, ms * 3))
          replica.leave(stream);
    }
    for (const replica of this.replicas) await replica.reporter.report();
    await this.directory.refresh();
    await this.directory.sweep();
  }

  /** The replica reads the log; what does not concern a proxy that holds everything needs no answer. */
  private catchUp(replica: Replica, j: number): void {
    const before = replica.revision;
    replica.revision = this.head;
    let n = 0;
    for (const stream of replica.streams) {
      const isCurrent = stream.applied === before;
      const isConcerned = (j >> n++) % 2 === 1;
      if (isCurrent && isConcerned) replica.moved(stream);
      if (!isCurrent || isConcerned) continue;
      stream.applied = replica.revision;
      if (stream.brokenAt === undefined && stream.proxy.lacks > before) stream.proxy.lacks = replica.revision + 1;
    }
  }

  /** The proxy gets the replica's state, and keeps its former configuration until it has acked that. */
  private connect(replica: Replica, proxy: Proxy): void {
    for (const each of this.replicas)
      for (const old of each.streams) if (old.proxy === proxy) old.brokenAt ??= this.clock.now();
    const stream = { proxy, since: this.clock.now() + this.made++ / 1_000, applied: -1 };
    replica.streams.add(stream);
    replica.moved(stream);
    if (replica.cutAt === undefined) this.renew(proxy);
  }
}

const actions = [
  'write',
  'write',
  'catch up',
  'catch up',
  'connect',
  'connect',
  'take',
  'ack',
  'ack',
  'leave',
  'break',
  'cut',
  'heal',
  'kill',
  'stop',
  'wait',
  'wait',
  'wait',
  'wait long',
  'wait hours',
];

type Story = [action: string, i: number, j: number][];

const times = (count: number, ...action: Story[number]): Story => Array.from({ length: count }, () => action);

/** Stories that random numbers seldom produce. */
const examples: Story[] = [
  // A proxy turns to a replica that is cut off and behind, after that replica seems to be gone.
  [
    ...times(1, 'connect', 1, 1),
    ...times(1, 'leave', 1, 1),
    ...times(6, 'wait hours', 0, 0),
    ...times(1, 'connect', 0, 0),
    ...times(1, 'ack', 0, 0),
    ...times(2, 'wait', 0, 3),
    ...times(1, 'cut', 1, 0),
    ...times(1, 'write', 0, 0),
    ...times(1, 'catch up', 0, 0),
    ...times(1, 'wait long', 0, 0),
    ...times(1, 'connect', 1, 0),
    ...times(1, 'take', 1, 0),
  ],
  // A proxy was at a replica that was behind, while it seemed to be connected to another.
  [
    ...times(1, 'connect', 0, 0),
    ...times(1, 'ack', 0, 0),
    ...times(2, 'wait', 0, 0),
    ...times(1, 'connect', 1, 1),
    ...times(1, 'write', 0, 0),
    ...times(1, 'catch up', 0, 0),
    ...times(1, 'connect', 1, 0),
    ...times(1, 'ack', 1, 0),
    ...times(1, 'leave', 1, 0),
    ...times(1, 'catch up', 1, 0),
    ...times(1, 'ack', 1, 1),
    ...times(2, 'wait', 0, 3),
  ],
];

describe('I11: the revision that all proxies of a zone apply', () => {
  it('is never above what a proxy lacks that may still use what it holds', async () => {
    const act = fc.tuple(fc.constantFrom(...actions), fc.nat(1), fc.nat(7));
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 60 }), async (story) => {
        const world = new World();
        for (const [action, i, j] of story) {
          await world.act(action, i, j);
          await world.check();
        }
      }),
      { numRuns: 300, examples: examples.map((story) => [story]) },
    );
  });

  it('rises to the log when all proxies have acked', async () => {
    const act = fc.tuple(fc.constantFrom(...actions), fc.nat(1), fc.nat(7));
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 40 }), async (story) => {
        const world = new World();
        for (const [action, i, j] of story) await world.act(action, i, j);
        for (const i of [0, 1]) await world.act('stop', i, 0);
        for (const j of [0, 1, 2]) await world.act('connect', j, j);
        // Reports of replicas and proxies that are gone count for two days at most.
        for (let days = 0; days < 12; days++) {
          for (const i of [0, 1]) await world.act('catch up', i, 0);
          for (const [i, j] of [0, 1].flatMap((of) => [0, 1, 2].map((proxy) => [of, proxy] as const)))
            await world.act('ack', i, j);
          await world.act(days < 11 ? 'wait hours' : 'wait long', 0, 0);
        }
        await world.check();
        expect(world.directory.ackWatermark('i')).toBe(world.head);
      }),
      { numRuns: 20 },
    );
  });
});
