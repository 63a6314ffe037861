import { printableText } from '@causeway/resources';
import {
  afterTick,
  CallerLog,
  type Clock,
  errorText,
  type Logger,
  type Rate,
  type Timer,
  TokenBucket,
  yieldToEventLoop,
} from '@causeway/runtime';
import {
  readPeerAddress,
  GrpcListener,
  type ConnectionLimits,
  type Http2Streams,
  type SharedPortOptions,
} from '@causeway/grpc-server';
import { AggregatedDiscoveryServiceService } from '@causeway/proto-gen';
import { Metadata, Server, type ServerCredentials, type ServerDuplexStream, type ServerOptions } from '@grpc/grpc-js';
import { AdsStream, type AdsCall } from './ads-stream';
import { ResponseEncoder, type AdsForm } from './ads-messages';
import { SendBudget } from './send-budget';
import type { SessionCounters } from './session-options';
import { NameBudget } from './name-budget';
import type { ProxyAuthenticator } from './proxy-authenticator';
import { statusOfProxy, type ProxyStatus } from './proxy-status';
import type { ResourceSource } from './resource-source';
import { Subscribers } from './subscribers';

/** The connection of a call from the point of view of a service: its certificate, and a way to mark it as authenticated. */
export type ConnectionCredentials = Pick<Http2Streams, 'findCertificate' | 'markAuthenticated'>;

export interface XdsServerOptions<V> {
  readonly source: ResourceSource<V>;
  readonly auth: ProxyAuthenticator<V>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits?: Partial<XdsLimits>;
  /** Adds further services to the port. */
  readonly addServices?: (server: Server, streams: ConnectionCredentials) => void;
}

export interface XdsLimits {
  readonly connections: ConnectionLimits;
  /** Maximum number of streams of all proxies. */
  readonly streams: number;
  /** Maximum number of streams of one proxy; a newer stream ends the oldest. */
  readonly streamsOfProxy: number;
  /** Maximum number of names on one stream, of all types. */
  readonly names: number;
  /** Maximum number of names on all streams together, beyond the first `ownNames` of each. */
  readonly sharedNames: number;
  readonly ownNames: number;
  /** The rate limit of requests on one stream. */
  readonly requests: Rate;
  /** Timeout of the answer to a response, ms. Envoy answers clusters within 15 s. */
  readonly ackTimeout: number;
  /** Timeout of the first request on a stream, ms. */
  readonly firstRequest: number;
  /** Maximum number of unacknowledged bytes on all streams; further responses wait. */
  readonly unackedBytes: number;
}

export const DEFAULT_XDS_LIMITS: XdsLimits = {
  connections: { all: 6_000, address: 3_000 },
  streams: 5_000,
  streamsOfProxy: 16,
  names: 50_000,
  sharedNames: 2_000_000,
  ownNames: 500,
  requests: { burst: 2_000, perSecond: 500 },
  ackTimeout: 60_000,
  firstRequest: 10_000,
  unackedBytes: 256 * 1024 * 1024,
};

/** Interval of the checks of timeouts, ms. */
const CHECK_PERIOD = 1_000;

/** Allows for the request of a reconnecting proxy, which lists all names that it holds. */
const MAX_REQUEST_BYTES = 16 * 1024 * 1024;

const BOUNDS: ServerOptions = {
  'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
  'grpc.max_send_message_length': -1,
  'grpc.max_concurrent_streams': 16,
  'grpc.max_metadata_size': 32 * 1024,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 15_000,
  'grpc.max_connection_idle_ms': 300_000,
};

/** Maximum length of a proxy's text in the log. */
const MAX_LOGGED = 1_000;

const asIs = (bytes: Buffer): Buffer => bytes;
const bytesOnly = {
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
} as const;
const adsService = {
  delta: { ...AggregatedDiscoveryServiceService.deltaAggregatedResources, ...bytesOnly },
  sotw: { ...AggregatedDiscoveryServiceService.streamAggregatedResources, ...bytesOnly },
} as const;

/**
 * Serves the resources of a source to proxies: Envoy's aggregated discovery service, delta and state of the world. Its guarantees are in
 * docs/reference/xds.md.
 */
export class XdsServer<V> {
  readonly counters: SessionCounters = { responses: 0, resources: 0, unchanged: 0, rejections: 0, staleNonces: 0 };
  private readonly limits: XdsLimits;
  private readonly subscribers: Subscribers<V>;
  private readonly streams = new Set<AdsStream<V>>();
  /** Streams whose proxy is not yet admitted. */
  private readonly introducing = new Set<AdsStream<V>>();
  /** The streams of admitted proxies, the oldest first. */
  private readonly byProxy = new Map<string, Set<AdsStream<V>>>();
  private readonly encoder = new ResponseEncoder();
  private readonly budget: SendBudget<V>;
  private readonly names: NameBudget;
  private readonly leaving = new Set<(status: ProxyStatus) => void>();
  private readonly moving = new Set<(proxy: string) => void>();
  private readonly log: CallerLog;
  private readonly listener: GrpcListener;
  private readonly stops: (() => void)[] = [];
  private timer: Timer | undefined;
  private isClosed = false;

  constructor(private readonly options: XdsServerOptions<V>) {
    const { clock, logger, source, auth } = options;
    this.limits = { ...DEFAULT_XDS_LIMITS, ...options.limits };
    this.subscribers = new Subscribers(clock, source);
    this.budget = new SendBudget(this.limits.unackedBytes, clock);
    this.names = new NameBudget(this.limits.sharedNames, this.limits.ownNames);
    this.log = new CallerLog(logger, clock);
    this.listener = new GrpcListener((streams) => this.createServer(streams), this.limits.connections, this.log, clock);
    this.stops.push(source.subscribe(this.subscribers));
    this.stops.push(auth.onChange?.((proxies) => this.review(proxies)) ?? (() => undefined));
    this.scheduleCheck();
  }

  /** Listens and resolves with the port; plaintext without credentials. Rejects if it cannot listen. */
  listen(host: string, port: number, credentials?: ServerCredentials): Promise<number> {
    return this.listener.bind(host, port, credentials);
  }

  /** Listens on a unix socket, in plaintext. Rejects if it cannot listen. */
  listenPath(path: string): Promise<void> {
    return this.listener.bindPath(path);
  }

  /** Listens like `listen`, for HTTP/1 too. */
  listenShared(host: string, port: number, shared: Pick<SharedPortOptions, 'certificates' | 'http'>): Promise<number> {
    return this.listener.bindShared(host, port, { ...shared, clock: this.options.clock, log: this.log });
  }

  /** Returns the numbers of open streams, of their subscribed names, and of unacknowledged bytes. */
  load(): { readonly streams: number; readonly names: number; readonly unackedBytes: number } {
    return { streams: this.streams.size, names: this.names.names, unackedBytes: this.budget.unackedBytes };
  }

  /** Returns the status of every connected proxy, by id. */
  proxies(): readonly ProxyStatus[] {
    const { revision } = this.options.source;
    return [...this.streams].flatMap((stream) => statusOfProxy(stream, revision) ?? []);
  }

  /** Returns the ids of all connected proxies. */
  ids(): Iterable<string> {
    return this.byProxy.keys();
  }

  /** Returns the streams of one proxy; empty if it is not connected. */
  listStreams(proxy: string): readonly ProxyStatus[] {
    const { revision } = this.options.source;
    return [...(this.byProxy.get(proxy) ?? [])].flatMap((stream) => statusOfProxy(stream, revision) ?? []);
  }

  /** Calls `listener` with each proxy whose `listStreams` may have changed; not for a change of the revision alone. */
  onMoved(listener: (proxy: string) => void): () => void {
    this.moving.add(listener);
    return () => void this.moving.delete(listener);
  }

  /** Calls `listener` with the last state of each stream that ends, if its proxy was admitted. */
  onLeaving(listener: (status: ProxyStatus) => void): () => void {
    this.leaving.add(listener);
    return () => void this.leaving.delete(listener);
  }

  /** Ends all streams so that the proxies connect to another replica, and stops listening. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.timer?.cancel();
    this.stops.splice(0).forEach((stop) => stop());
    for (const stream of this.streams) stream.end('unavailable', 'this control plane stops');
    // The final statuses reach the proxies before their connections are closed.
    for (let turn = 0; turn < 3; turn++) await yieldToEventLoop();
    await this.listener.close();
  }

  private createServer(streams: Http2Streams): Server {
    const server = new Server({ ...BOUNDS, interceptors: [streams.interceptor] });
    const serve = (form: AdsForm) => (call: ServerDuplexStream<Buffer, Buffer>) =>
      this.serve(form, {
        metadata: call.metadata,
        address: readPeerAddress(call.getPeer()),
        certificate: streams.findCertificate(call.metadata),
        stream: call,
        write: (frame) => streams.write(call.metadata, frame, () => undefined),
        reset: () => streams.reset(call.metadata),
        admitted: () => streams.markAuthenticated(call.metadata),
      });
    server.addService(adsService, { delta: serve('delta'), sotw: serve('sotw') });
    this.options.addServices?.(server, streams);
    return server;
  }

  private serve(form: AdsForm, call: AdsCall): void {
    call.stream.sendMetadata(new Metadata());
    const { source, auth, clock } = this.options;
    const stream = new AdsStream<V>(form, call, {
      auth,
      clock,
      requests: new TokenBucket(this.limits.requests, clock),
      session: {
        source,
        clock,
        subscribers: this.subscribers,
        encoder: this.encoder,
        counters: this.counters,
        budget: this.budget,
        mostNames: this.limits.names,
        names: this.names,
        moved: (proxy) => this.moved(proxy),
        rejected: (proxy, type, text) => this.rejected(proxy, type, text),
      },
      admitted: () => this.admitted(stream),
      failed: (error) => this.options.logger.error('a stream of a proxy has failed', { error: formatStack(error) }),
      closing: () => this.closing(stream),
      ended: (why) => this.ended(stream, why),
    });
    if (this.isClosed) return stream.end('unavailable', 'this control plane stops');
    if (this.streams.size >= this.limits.streams)
      return stream.end('exhausted', `this control plane serves ${this.limits.streams} streams already`);
    this.streams.add(stream);
    this.introducing.add(stream);
    stream.begin();
  }

  private moved(proxy: string): void {
    for (const listener of this.moving) listener(proxy);
  }

  private closing(stream: AdsStream<V>): void {
    this.moved(stream.proxyId ?? '');
    const status = statusOfProxy(stream, this.options.source.revision);
    if (status) for (const listener of this.leaving) listener(status);
  }

  /** Authenticates these proxies again; all of them without the argument. */
  private review(proxies: Iterable<string> | undefined): void {
    const own = (proxy: string): Iterable<AdsStream<V>> => this.byProxy.get(proxy) ?? [];
    const stale =
      proxies === undefined ? this.streams : [...this.introducing, ...[...proxies].flatMap((one) => [...own(one)])];
    for (const stream of stale) {
      if (stream.proxyId !== undefined) this.moved(stream.proxyId);
      stream.review();
    }
  }

  private ended(stream: AdsStream<V>, why: string | undefined): void {
    this.streams.delete(stream);
    this.introducing.delete(stream);
    const ofProxy = this.byProxy.get(stream.proxyId ?? '');
    if (ofProxy?.delete(stream) && ofProxy.size === 0) this.byProxy.delete(stream.proxyId ?? '');
    if (stream.session) this.budget.leave(stream.session);
    if (why === undefined) return;
    const { address, proxyId = '' } = stream;
    this.log.warn(`${proxyId} ${address}`, 'a stream of a proxy was ended', { proxy: proxyId, address, reason: why });
  }

  private rejected(proxy: string, type: string, text: string): void {
    const reason = printableText(text, MAX_LOGGED);
    this.log.warn(`${proxy} rejects`, 'a proxy has rejected what it was sent', { proxy, type, reason });
  }

  /** A proxy that keeps opening streams keeps only the newest. */
  private admitted(stream: AdsStream<V>): void {
    const proxy = stream.proxyId ?? '';
    this.introducing.delete(stream);
    this.moved(proxy);
    const ofProxy = (this.byProxy.get(proxy) ?? new Set()).add(stream);
    this.byProxy.set(proxy, ofProxy);
    for (const oldest of [...ofProxy].slice(0, Math.max(0, ofProxy.size - this.limits.streamsOfProxy)))
      oldest.end('unavailable', 'newer streams of this proxy took its place');
  }

  private scheduleCheck(): void {
    this.timer = afterTick(this.options.clock, CHECK_PERIOD, () => {
      for (const stream of this.streams) stream.checkTime(this.limits);
      if (!this.isClosed) this.scheduleCheck();
    });
  }
}

function formatStack(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : errorText(error);
}
