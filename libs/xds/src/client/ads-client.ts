import { isDeepStrictEqual } from 'node:util';
import { AggregatedDiscoveryServiceClient, DeltaDiscoveryRequest, DeltaDiscoveryResponse } from '@causeway/proto-gen';
import { ClientSockets } from '@causeway/grpc-server';
import { shortened } from '@causeway/resources';
import { Backoff, errorText, type Clock, type Logger, type Timer } from '@causeway/runtime';
import { Metadata, status, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js';
import { endpointsNameOf, type EncodedResource } from '../resources/encoded-resource';
import { clientCredentials, type ClientTls } from './client-credentials';
import { Subscriptions, type SubscriptionChange } from './subscriptions';

/** What a server has told of one type. */
export interface ResourceUpdate {
  readonly type: string;
  readonly resources: readonly EncodedResource[];
  readonly removed: readonly string[];
}

/** A proxy as it introduces itself. */
export interface ClientNode {
  readonly id: string;
  readonly cluster: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly userAgent: string;
}

export interface AdsClientOptions {
  /**
   * `host:port` of the replicas of the control plane; one after the other is tried, the first one first. Asked for at each connection;
   * where it names none the earlier ones are tried.
   */
  readonly addresses: () => readonly string[];
  /** How the server is verified, and what the client shows; plain text where it is undefined. Asked for at each connection. */
  readonly tls: () => ClientTls | undefined;
  readonly node: () => ClientNode;
  /** The header `authorization`. Asked for at each stream. */
  readonly authorization: () => string | undefined;
  /** What is held of a type, as name and version: it is not told again. */
  readonly held: (type: string) => Iterable<readonly [name: string, version: string]>;
  /**
   * Takes an update. It is acked when this resolves, and rejected with the text that it resolves with, or rejects with. Updates of a
   * type come one after the other.
   */
  readonly receive: (update: ResourceUpdate) => Promise<string | undefined>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits?: Partial<AdsClientLimits>;
}

export interface AdsClientLimits {
  /** How long a server may take to answer a connection, ms: many clients connect at once after a control plane was away. */
  readonly connect: number;
  /** First and longest pause between tries, ms. */
  readonly pause: { readonly base: number; readonly cap: number };
  /** Largest response, bytes. */
  readonly responseBytes: number;
}

const DEFAULT_LIMITS: AdsClientLimits = {
  connect: 15_000,
  pause: { base: 100, cap: 10_000 },
  responseBytes: 16 * 1024 * 1024,
};

/** Where a client stands. */
export type AdsClientState =
  | { readonly type: 'connected'; readonly address: string; readonly since: number }
  | { readonly type: 'connecting'; readonly address: string; readonly failure?: string };

/** A dead server is noticed after both, ms. */
const KEEPALIVE = { 'grpc.keepalive_time_ms': 10_000, 'grpc.keepalive_timeout_ms': 5_000 };
const PATH = '/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources';
const MAX_TEXT = 1_000;
const INVALID_ARGUMENT = 3;

/**
 * A client of a control plane's delta discovery. It stays subscribed over broken connections: a new stream says what is held, so that
 * only what has changed meanwhile is told. It is the agent's half of what docs/reference/xds.md promises.
 */
export class AdsClient {
  private readonly limits: AdsClientLimits;
  private readonly subscriptions = new Subscriptions();
  private readonly backoff: Backoff;
  private readonly listeners = new Set<(state: AdsClientState) => void>();
  private readonly queue = new UpdateQueue();
  private addresses: readonly string[];
  private tries = 0;
  private stream: AdsClientStream | undefined;
  private pause: Timer | undefined;
  private isFlushing = false;
  private isClosed = false;
  private current: AdsClientState;

  constructor(private readonly options: AdsClientOptions) {
    this.addresses = options.addresses();
    const [address] = this.addresses;
    if (address === undefined) throw new RangeError('an AdsClient needs an address');
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.backoff = new Backoff(this.limits.pause);
    this.current = { type: 'connecting', address };
    this.open();
  }

  get state(): AdsClientState {
    return this.current;
  }

  /** Calls `listener` with each new state until the returned function is called. */
  onState(listener: (state: AdsClientState) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** From now on the server tells these, or what it lists for this proxy for `*`. */
  subscribe(type: string, names: readonly string[]): void {
    if (this.subscriptions.add(type, names)) this.flush();
  }

  unsubscribe(type: string, names: readonly string[]): void {
    if (this.subscriptions.delete(type, names)) this.flush();
  }

  /** Begins a new stream: the node, the token or the certificate has changed. */
  restart(): void {
    this.stream?.cancel();
  }

  /** Ends the stream. Nothing is received afterwards. */
  close(): void {
    this.isClosed = true;
    this.pause?.cancel();
    this.stream?.cancel();
    this.stream = undefined;
  }

  private open(): void {
    const { logger } = this.options;
    this.lookForAddresses();
    const address = this.addresses[this.tries++ % this.addresses.length] ?? '';
    const connection = new AdsClientStream(address, this.options, this.limits, {
      queue: this.queue,
      connected: () => {
        this.become({ type: 'connected', address, since: this.options.clock.now() });
        logger.info('connected to the control plane', { address });
      },
      answered: () => this.backoff.reset(),
      ended: (failure) => this.ended(connection, address, failure),
    });
    this.stream = connection;
    this.subscriptions.restart();
    this.flush();
  }

  /** Other ones are tried from the first on. */
  private lookForAddresses(): void {
    const addresses = this.options.addresses();
    if (addresses.length === 0 || isDeepStrictEqual(addresses, this.addresses)) return;
    this.addresses = addresses;
    this.tries = 0;
  }

  private ended(stream: AdsClientStream, address: string, failure: string): void {
    if (this.isClosed || stream !== this.stream) return;
    this.stream = undefined;
    const { clock, logger } = this.options;
    const { length } = this.addresses;
    const next = this.addresses[this.tries % length] ?? '';
    if (this.current.type === 'connected' || this.current.failure !== failure)
      logger.warn('no stream to the control plane', { address, reason: failure });
    this.become({ type: 'connecting', address: next, failure });
    // Each address is tried once before the first pause.
    const isRound = this.tries % length === 0;
    this.pause = clock.after(isRound ? this.backoff.next() : 0, () => this.open());
  }

  private become(state: AdsClientState): void {
    this.current = state;
    for (const listener of this.listeners) listener(state);
  }

  /** What is subscribed in one turn goes in one request a type. */
  private flush(): void {
    if (this.isFlushing) return;
    this.isFlushing = true;
    queueMicrotask(() => {
      this.isFlushing = false;
      if (!this.stream) return;
      for (const change of this.subscriptions.take()) this.stream.request(change);
    });
  }
}

/** Updates of a type are taken one after the other, also those of a stream that has ended and of the next one. */
class UpdateQueue {
  private readonly last = new Map<string, Promise<void>>();

  /** `take` must not reject. */
  add(type: string, take: () => Promise<void>): void {
    const taken = (this.last.get(type) ?? Promise.resolve()).then(take);
    this.last.set(type, taken);
    void taken.then(() => {
      if (this.last.get(type) === taken) this.last.delete(type);
    });
  }
}

interface StreamEvents {
  readonly queue: UpdateQueue;
  /** The server has answered the connection. */
  readonly connected: () => void;
  /** The server has told something. */
  readonly answered: () => void;
  /** Is called once. */
  readonly ended: (failure: string) => void;
}

/** One stream to one server. */
class AdsClientStream {
  private readonly sockets: ClientSockets;
  private readonly client: AggregatedDiscoveryServiceClient;
  private readonly call: ClientDuplexStream<Buffer, Buffer>;
  private readonly deadline: Timer;
  private isOver = false;
  private isFirst = true;

  constructor(
    address: string,
    private readonly options: AdsClientOptions,
    limits: AdsClientLimits,
    private readonly events: StreamEvents,
  ) {
    const { credentials, options: target } = clientCredentials(address, options.tls());
    this.sockets = new ClientSockets(credentials, options.clock);
    this.client = new AggregatedDiscoveryServiceClient(address, this.sockets.credentials, {
      ...{ ...KEEPALIVE, ...target },
      'grpc.max_receive_message_length': limits.responseBytes,
      'grpc.max_send_message_length': -1,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_retries': 0,
    });
    const metadata = new Metadata();
    const authorization = options.authorization();
    if (authorization !== undefined) metadata.set('authorization', authorization);
    const asIs = (bytes: Buffer): Buffer => bytes;
    this.call = this.client.makeBidiStreamRequest(PATH, asIs, asIs, metadata);
    this.deadline = options.clock.after(limits.connect, () => this.end('it did not answer in time'));
    this.call.on('metadata', () => {
      this.deadline.cancel();
      if (!this.isOver) events.connected();
    });
    this.call.on('data', (bytes: Buffer) => this.received(bytes));
    this.call.on('error', (error: ServiceError) => this.end(failureOf(error)));
    this.call.on('end', () => this.end('it ended the stream'));
  }

  request({ type, subscribe, unsubscribe, isFirst }: SubscriptionChange): void {
    this.write({
      ...{ typeUrl: type, resourceNamesSubscribe: [...subscribe], resourceNamesUnsubscribe: [...unsubscribe] },
      ...(isFirst && { initialResourceVersions: Object.fromEntries(this.options.held(type)) }),
    });
  }

  cancel(): void {
    this.end('it was given up');
  }

  private write(request: object): void {
    if (this.isOver) return;
    const introduced = this.isFirst ? { node: this.node(), ...request } : request;
    this.isFirst = false;
    this.call.write(Buffer.from(DeltaDiscoveryRequest.encode(DeltaDiscoveryRequest.fromPartial(introduced)).finish()));
  }

  private node(): object {
    const { id, cluster, metadata, userAgent } = this.options.node();
    const [userAgentName, version = ''] = userAgent.split(' ', 2);
    return {
      id,
      cluster,
      metadata,
      userAgentName,
      userAgentVersionType: { $case: 'userAgentVersion', value: version },
    };
  }

  private received(bytes: Buffer): void {
    if (this.isOver) return;
    let response: DeltaDiscoveryResponse;
    try {
      response = DeltaDiscoveryResponse.decode(bytes);
    } catch (error) {
      return this.end(`a response cannot be read: ${errorText(error)}`);
    }
    this.events.answered();
    this.events.queue.add(response.typeUrl, () => this.take(response));
  }

  private async take({ typeUrl, nonce, resources, removedResources }: DeltaDiscoveryResponse): Promise<void> {
    if (this.isOver) return;
    let failure: string | undefined;
    try {
      const encoded = resources.map((resource) => receivedResource(typeUrl, resource));
      failure = await this.options.receive({ type: typeUrl, resources: encoded, removed: removedResources });
    } catch (error) {
      failure = errorText(error);
    }
    const errorDetail = failure !== undefined && { code: INVALID_ARGUMENT, message: shortened(failure, MAX_TEXT, '…') };
    this.write({ typeUrl, responseNonce: nonce, ...(errorDetail && { errorDetail }) });
  }

  private end(failure: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.deadline.cancel();
    this.call.cancel();
    this.client.close();
    this.sockets.end();
    this.events.ended(failure);
  }
}

function receivedResource(type: string, { name, version, resource }: WireResource): EncodedResource {
  if (!resource) throw new TypeError(`${name} has no content`);
  if (resource.typeUrl !== type) throw new TypeError(`${name} is of type ${shortened(resource.typeUrl, 200)}`);
  // The bytes of a message share its buffer, and a resource is kept for long.
  const bytes = Buffer.from(resource.value);
  const endpointsName = endpointsNameOf(type, bytes);
  return { type, name, version, bytes, ...(endpointsName !== undefined && { endpointsName }) };
}

type WireResource = DeltaDiscoveryResponse['resources'][number];

function failureOf({ code, details }: ServiceError): string {
  return `${status[code] ?? code}: ${shortened(details, MAX_TEXT, '…')}`;
}
