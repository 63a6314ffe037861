import { DeltaDiscoveryRequest, DeltaDiscoveryResponse } from '@causeway/proto-gen';
import { shortened } from '@causeway/resources';
import { errorText, type Clock, type Timer } from '@causeway/runtime';
import { Metadata, status, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js';
import { readEndpointsName, type EncodedResource } from '../resources/encoded-resource';
import { isOfConnection, type ClientConnection } from './client-connections';
import type { SubscriptionChange } from './subscriptions';

const PATH = '/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources';
const MAX_TEXT = 1_000;
const INVALID_ARGUMENT = 3;

/** The resources of one type in a response. */
export interface ResourceUpdate {
  readonly type: string;
  readonly resources: readonly EncodedResource[];
  readonly removed: readonly string[];
}

/** The node identity that a proxy sends. */
interface ClientNode {
  readonly id: string;
  readonly cluster: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly userAgent: string;
}

/** State that the streams of a proxy share. */
export interface AdsClientStreamOptions {
  readonly node: () => ClientNode;
  /** Returns the header `authorization`. Called for each stream. */
  readonly authorization: () => string | undefined;
  /** Returns the resources of a type that the client holds, as name and version: they are not sent again. */
  readonly held: (type: string) => Iterable<readonly [name: string, version: string]>;
  /**
   * Processes an update. The client acknowledges it when this resolves with undefined, and rejects it with the text that this resolves with or
   * rejects with. Updates of a type are processed in sequence.
   */
  readonly receive: (update: ResourceUpdate) => Promise<string | undefined>;
  readonly clock: Clock;
}

/** Processes the updates of a type in sequence, also those of a stream that has ended and of its successor. */
export class UpdateQueue {
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

/** Callbacks of a stream. */
export interface StreamEvents {
  readonly queue: UpdateQueue;
  /** Called when the server has answered the connection. */
  readonly connected: () => void;
  /** Called when the server has sent a message. */
  readonly answered: () => void;
  /** Called once. */
  readonly ended: (failure: string) => void;
}

/** One stream of the client to one server. */
export class AdsClientStream {
  private readonly call: ClientDuplexStream<Buffer, Buffer>;
  private readonly deadline: Timer;
  private isOver = false;
  private isFirst = true;

  /** `deadline`: the timeout of the server's first answer, ms. */
  constructor(
    private readonly connection: ClientConnection,
    deadline: number,
    private readonly options: AdsClientStreamOptions,
    private readonly events: StreamEvents,
  ) {
    const metadata = new Metadata();
    const authorization = options.authorization();
    if (authorization !== undefined) metadata.set('authorization', authorization);
    const asIs = (bytes: Buffer): Buffer => bytes;
    this.call = connection.client.makeBidiStreamRequest(PATH, asIs, asIs, metadata);
    this.deadline = options.clock.after(deadline, () => this.end('it did not answer in time', true));
    this.call.on('metadata', () => {
      this.deadline.cancel();
      if (!this.isOver) events.connected();
    });
    this.call.on('data', (bytes: Buffer) => this.received(bytes));
    this.call.on('error', (error: ServiceError) => this.end(formatFailure(error), isOfConnection(error.code)));
    this.call.on('end', () => this.end('it ended the stream', true));
  }

  request({ type, subscribe, unsubscribe, isFirst }: SubscriptionChange): void {
    this.write({
      typeUrl: type,
      resourceNamesSubscribe: [...subscribe],
      resourceNamesUnsubscribe: [...unsubscribe],
      ...(isFirst && { initialResourceVersions: Object.fromEntries(this.options.held(type)) }),
    });
  }

  cancel(): void {
    this.end('the connection was given up');
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

  private end(failure: string, isBroken = false): void {
    if (this.isOver) return;
    this.isOver = true;
    this.deadline.cancel();
    this.call.cancel();
    if (isBroken) this.connection.abandon();
    else this.connection.release();
    this.events.ended(failure);
  }
}

function receivedResource(type: string, { name, version, resource }: ReceivedResource): EncodedResource {
  if (!resource) throw new TypeError(`${name} has no content`);
  if (resource.typeUrl !== type) throw new TypeError(`${name} is of type ${shortened(resource.typeUrl, 200)}`);
  // Copied: the resources of a message share its buffer, and each may be kept for long.
  const bytes = Buffer.from(resource.value);
  const endpointsName = readEndpointsName(type, bytes);
  return { type, name, version, bytes, ...(endpointsName !== undefined && { endpointsName }) };
}

type ReceivedResource = DeltaDiscoveryResponse['resources'][number];

function formatFailure({ code, details }: ServiceError): string {
  return `${status[code] ?? code}: ${shortened(details, MAX_TEXT, '…')}`;
}
