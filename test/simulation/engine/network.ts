import type { HandshakeRequest, HandshakeResponse } from '@causeway/proto-gen';
import { Unavailable } from '@causeway/resources';
import {
  decodeZoneHeaders,
  type IncomingStream,
  type StreamEndReason,
  type ListenedStream,
  type StreamListener,
  type ZoneHeaders,
  type ZoneTransport,
} from '@causeway/kds/testing';
import type { Prng } from './prng';
import type { SimProcess } from './sim-process';

/** Time of silence after which a peer is given up, ms. */
export const KEEPALIVE = 10_000;
const DEADLINE = 10_000;
/** Messages in flight before `write` returns false. */
const WINDOW = 6;

/** A replica of the global that serves zones. */
export interface Served {
  readonly process: SimProcess;
  handshake(request: HandshakeRequest, headers: ZoneHeaders): Promise<HandshakeResponse>;
  accept(arrived: IncomingStream): void;
}

/** Faults of sent messages; only a simulation that looks for faults sets any. */
export interface NetworkFaults {
  readonly message?: (bytes: Buffer, direction: 'up' | 'down', to: 'zone' | 'global') => Buffer;
}

/** A message as it is written. */
export interface Said {
  /** The same object for all messages of one stream. */
  readonly stream: object;
  readonly zone: string;
  readonly direction: 'up' | 'down';
  readonly to: 'zone' | 'global';
  readonly bytes: Buffer;
}

/** The wires between zones and the global's replicas. */
export class SimNetwork {
  /** Zones that are cut off: nothing new gets through. */
  readonly cut = new Set<string>();
  /** Messages delivered. */
  delivered = 0;
  /** Shown each message as it is written. */
  tap: ((said: Said) => void) | undefined;
  private readonly connections = new Set<SimConnection>();

  constructor(
    /** Replicas of the global that can be dialled now. */
    private readonly replicas: () => readonly Served[],
    private readonly random: Prng,
    private readonly faults: NetworkFaults = {},
  ) {}

  /** A connection of a zone's process to one of the global's replicas. */
  dial(zone: string, process: SimProcess): ZoneTransport {
    const replicas = this.replicas();
    const random = this.random.fork(`${process.name} ${process.timeline.now}`);
    const peer = replicas.length === 0 || this.cut.has(zone) ? undefined : random.pick(replicas);
    const connection = new SimConnection(zone, { zone, process, peer, random, network: this, faults: this.faults });
    this.connections.add(connection);
    return connection;
  }

  /** Breaks the zone's connections; half open, neither end hears of it for a while. */
  break(zone: string, how: 'reset' | 'half-open'): void {
    for (const connection of [...this.connections]) if (connection.zone === zone) connection.break(how);
  }

  /** Breaks the connections of a process. */
  breakOf(process: SimProcess, how: 'reset' | 'half-open'): void {
    for (const connection of [...this.connections]) if (connection.joins(process)) connection.break(how);
  }

  /** Whether a running process serves both streams of this session of a zone. */
  serves(process: string, zone: string, session: number): boolean {
    return [...this.connections].some((connection) => connection.isServed(process, zone, session));
  }

  forget(connection: SimConnection): void {
    this.connections.delete(connection);
  }
}

/** Parts of a connection. */
interface ConnectionParts {
  readonly zone: string;
  readonly process: SimProcess;
  readonly peer: Served | undefined;
  readonly random: Prng;
  readonly network: SimNetwork;
  readonly faults: NetworkFaults;
}

/** One zone's connection; its streams deliver in order each, and know nothing of each other. */
class SimConnection implements ZoneTransport {
  private broken = false;
  private readonly pipes: SimPipe[] = [];
  private readonly calls = new Set<() => void>();

  constructor(
    readonly zone: string,
    private readonly parts: ConnectionParts,
  ) {}

  isServed(by: string, zone: string, session: number): boolean {
    const { peer } = this.parts;
    if (zone !== this.zone || peer?.process.name !== by || !peer.process.isRunning) return false;
    return this.pipes.filter((pipe) => pipe.session === session && pipe.global.isServed).length === 2;
  }

  joins(process: SimProcess): boolean {
    return this.parts.process === process || this.parts.peer?.process === process;
  }

  handshake(
    request: HandshakeRequest,
    metadata: Parameters<ZoneTransport['handshake']>[1],
  ): Promise<HandshakeResponse> {
    const { process, peer } = this.parts;
    const headers = decodeZoneHeaders(metadata);
    return new Promise((resolve, reject) => {
      const fail = (reason: string): void => process.deliver(() => reject(new Unavailable(reason)));
      const deadline = process.timeline.after(DEADLINE, () => fail('the handshake took too long'));
      this.calls.add(() => fail('the connection was lost'));
      if (!peer) return void process.timeline.after(this.latency(), () => fail('nobody there'));
      process.timeline.after(this.latency(), () => {
        if (this.broken) return;
        if (peer.process.isDead) return fail('refused');
        peer.process.deliver(() => {
          const answer = (done: () => void): void => {
            process.timeline.after(this.latency(), () => {
              if (this.broken) return;
              deadline.cancel();
              process.deliver(done);
            });
          };
          peer.handshake(request, headers).then(
            (response) => answer(() => resolve(response)),
            (error: Error) => answer(() => reject(error)),
          );
        });
      });
    });
  }

  stream(direction: 'up' | 'down', metadata: Parameters<ZoneTransport['stream']>[1]): ListenedStream {
    const { process, peer } = this.parts;
    const pipe = new SimPipe(direction, { ...this.parts, latency: () => this.latency(), isOut: () => this.broken });
    this.pipes.push(pipe);
    const headers = decodeZoneHeaders(metadata);
    pipe.session = headers.session;
    process.timeline.after(this.latency(), () => {
      if (!peer || peer.process.isDead) return pipe.break();
      // Streams that were opened on a broken connection end when that is noticed.
      if (this.broken) return void process.timeline.after(KEEPALIVE, () => pipe.break());
      peer.process.deliver(() => peer.accept({ stream: pipe.global, direction, headers }));
    });
    return pipe.zone;
  }

  close(): void {
    for (const pipe of this.pipes) pipe.zone.end('shutdown', 'the connection was closed');
    this.parts.network.forget(this);
  }

  break(how: 'reset' | 'half-open'): void {
    if (this.broken) return;
    this.broken = true;
    this.parts.network.forget(this);
    const { timeline } = this.parts.process;
    const patience = how === 'reset' ? 0 : KEEPALIVE;
    for (const call of this.calls) timeline.after(patience, call);
    for (const pipe of this.pipes) {
      for (const end of [pipe.zone, pipe.global]) {
        const wait = how === 'reset' ? this.parts.random.between(0, 60) : this.parts.random.between(1_000, KEEPALIVE);
        timeline.after(wait, () => end.lose('the connection was lost'));
      }
    }
  }

  private latency(): number {
    const { random } = this.parts;
    if (random.chance(0.02)) return random.between(100, 2_000);
    return random.chance(0.3) ? 1 : random.between(1, 30);
  }
}

interface PipeParts extends ConnectionParts {
  readonly latency: () => number;
  readonly isOut: () => boolean;
}

/** One stream with its two ends. */
class SimPipe {
  readonly zone: PipeEnd;
  readonly global: PipeEnd;
  /** The session that the zone opened it for. */
  session: number | undefined;

  constructor(direction: 'up' | 'down', parts: PipeParts) {
    this.zone = new PipeEnd('zone', direction, parts);
    this.global = new PipeEnd('global', direction, parts);
    this.zone.other = this.global;
    this.global.other = this.zone;
  }

  break(): void {
    this.zone.lose('the connection was lost');
    this.global.lose('the connection was lost');
  }
}

/** One end: writes here arrive at the other end, in order, as long as the connection is open. */
class PipeEnd implements ListenedStream {
  other: PipeEnd | undefined;
  private listener: StreamListener | undefined;
  private over = false;
  private isPaused = false;
  private readonly early: (() => void)[] = [];
  private underWay = 0;
  private full = false;
  /** When the last message arrives at the other end. */
  private last = 0;

  constructor(
    private readonly side: 'zone' | 'global',
    private readonly direction: 'up' | 'down',
    private readonly parts: PipeParts,
  ) {}

  /** Whether it has a listener and has not ended. */
  get isServed(): boolean {
    return this.listener !== undefined && !this.over;
  }

  listen(listener: StreamListener): void {
    this.listener = listener;
    for (const event of this.early.splice(0)) event();
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    while (!this.isPaused && this.early.length > 0) this.early.shift()?.();
  }

  write(message: Buffer): boolean {
    const { other } = this;
    if (this.over || !other) return true;
    const to = other.side;
    const { faults, zone, network } = this.parts;
    const bytes = faults.message?.(message, this.direction, to) ?? message;
    network.tap?.({ stream: this.parts, zone, direction: this.direction, to, bytes });
    this.underWay++;
    this.full ||= this.underWay >= WINDOW;
    this.inOrder(() => {
      if (this.parts.isOut()) return;
      other.deliver(() => {
        this.arrived();
        this.parts.network.delivered++;
        other.hear((listener) => listener.message(bytes));
      });
    });
    return !this.full;
  }

  end(_reason: StreamEndReason, detail: string): void {
    if (this.over) return;
    const { other } = this;
    this.finish(detail);
    if (other) this.inOrder(() => (this.parts.isOut() ? undefined : other.lose(detail)));
  }

  /** The other end or the wire is gone. */
  lose(detail: string): void {
    this.deliver(() => this.finish(detail));
  }

  private finish(detail: string): void {
    if (this.over) return;
    this.over = true;
    const tell = (): void => this.listener?.ended(detail);
    if (this.listener) tell();
    else this.early.push(tell);
  }

  private hear(event: (listener: StreamListener) => void): void {
    if (this.over) return;
    const { listener } = this;
    if (listener && !this.isPaused) event(listener);
    else this.early.push(() => (this.over || !this.listener ? undefined : event(this.listener)));
  }

  private arrived(): void {
    this.underWay--;
    if (!this.full || this.underWay > 0) return;
    this.full = false;
    this.parts.process.timeline.after(1, () => this.deliver(() => this.hear((listener) => listener.drain())));
  }

  private inOrder(action: () => void): void {
    const { timeline } = this.parts.process;
    this.last = Math.max(this.last, timeline.now + this.parts.latency());
    timeline.at(this.last, action);
  }

  private deliver(action: () => void): void {
    const process = this.side === 'zone' ? this.parts.process : this.parts.peer?.process;
    process?.deliver(action);
  }
}
