import { Client, credentials, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js';
import { HandshakeRequest, SyncServiceClient, type HandshakeResponse } from '@causeway/proto-gen';
import {
  CAUSEWAY_DIALECT,
  encodeResponse,
  encodeZoneHeaders,
  Extension,
  kdsSyncService,
  ResourceEncoder,
  type StatePosition,
  type WireResource,
} from '@causeway/kds/testing';
import type { Target } from './target';

const EXTENSIONS = Object.values(Extension);
const DEADLINE = 20_000;

/** Fields of a message that an evil zone sets; the others are as an honest zone sets them. */
export interface EvilMessage {
  readonly kind?: string;
  readonly resources?: readonly Partial<WireResource>[];
  readonly mark?: Partial<StatePosition>;
}

/** A zone with a valid token of its own that sends arbitrary content. */
export class EvilZone {
  private readonly client: Client;
  private readonly encoder = new ResourceEncoder({ role: 'global' });
  private messages = 0;

  constructor(
    readonly zone: string,
    private readonly target: Pick<Target, 'kds' | 'ca' | 'tokens'>,
  ) {
    this.client = new Client(target.kds, credentials.createSsl(Buffer.from(target.ca)), {
      // A channel of its own: clients of one process would share a connection.
      'grpc.use_local_subchannel_pool': 1,
      'grpc.max_send_message_length': -1,
      'grpc.ssl_target_name_override': 'localhost',
    });
  }

  /** Resolves with the answer; rejects with the refusal. */
  handshake(lies: Parameters<typeof HandshakeRequest.fromPartial>[0] = {}): Promise<HandshakeResponse> {
    const { zone } = this;
    const client = new SyncServiceClient(this.target.kds, credentials.createInsecure(), {
      channelOverride: this.client.getChannel(),
    });
    const honest = { zone, storeId: zone, incarnation: 'one', instance: 'evil', features: EXTENSIONS };
    const request = HandshakeRequest.fromPartial({ ...honest, ...lies });
    const options = { deadline: Date.now() + DEADLINE };
    return new Promise((resolve, reject) => {
      client.handshake(request, this.headers(), options, (error, response) =>
        error ? reject(error) : resolve(response),
      );
    });
  }

  /** A stream up or down; `ended` resolves with the reason of its end. */
  stream(direction: 'up' | 'down', session: number): EvilStream {
    const service = direction === 'up' ? kdsSyncService.zoneToGlobalSync : kdsSyncService.globalToZoneSync;
    const { path, requestSerialize, responseDeserialize } = service;
    return new EvilStream(
      this.client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, this.headers(session)),
    );
  }

  /** Of the last message. */
  get nonce(): string {
    return String(this.messages);
  }

  /** The bytes of a message; resources that even we cannot encode are left out. */
  message({ kind = 'MeshService', resources = [], mark = {} }: EvilMessage): Buffer {
    this.messages += 1;
    const { nonce } = this;
    const origin = { incarnation: 'one', revision: this.messages, committedAt: Date.now() };
    const encoded = resources.flatMap((one) => {
      const { name = 'a', zone = this.zone } = { name: one.name, zone: this.zone };
      const meta = {
        uid: `uid-${name}`,
        zone,
        namespace: 'default',
        generation: 1,
        creationOrder: this.messages,
        origin,
      };
      const wire = { kind, mesh: 'default', labels: {}, spec: {}, meta, ...one, name };
      const encoding = this.encoder.encodeWire(wire, CAUSEWAY_DIALECT);
      return encoding.ok ? [encoding.resource] : [];
    });
    const position = {
      incarnation: 'one',
      revision: this.messages,
      view: '',
      more: false,
      resumed: true,
      gone: [],
      ...mark,
    };
    return encodeResponse({ kind, nonce, controlPlane: this.zone, position, resources: encoded, removed: [] });
  }

  close(): void {
    this.client.close();
  }

  private headers(session?: number): ReturnType<typeof encodeZoneHeaders> {
    const { zone } = this;
    const token = this.target.tokens[zone];
    return encodeZoneHeaders({
      zone,
      version: '0',
      extensions: EXTENSIONS,
      ...(session === undefined ? {} : { session }),
      ...(token === undefined ? {} : { token }),
    });
  }
}

/** One stream of an evil zone. */
export class EvilStream {
  /** Resolves with the status and details that ended it. */
  readonly ended: Promise<string>;
  isOpen = true;
  answers = 0;
  /** Is called with each answer. */
  onAnswer: ((bytes: Buffer) => void) | undefined;

  constructor(private readonly call: ClientDuplexStream<Buffer, Buffer>) {
    this.ended = new Promise((resolve) => {
      const end = (reason: string): void => {
        this.isOpen = false;
        resolve(reason);
      };
      call.on('error', (error: ServiceError) => end(`${error.code} ${error.details}`));
      call.on('end', () => end('ended'));
    });
    call.on('data', (bytes: Buffer) => {
      this.answers++;
      this.onAnswer?.(bytes);
    });
  }

  /** Sends and waits neither for an answer nor for room. */
  send(bytes: Buffer): void {
    if (this.isOpen) this.call.write(bytes);
  }

  /** Takes nothing in any more. */
  stopReading(): void {
    this.call.pause();
  }

  cancel(): void {
    this.call.cancel();
  }
}
