import { Client, type ChannelCredentials, type ClientDuplexStream } from '@grpc/grpc-js';
import { coreKinds } from '@causeway/kinds';
import { HandshakeRequest, SyncServiceClient, type HandshakeResponse } from '@causeway/proto-gen';
import {
  CAUSEWAY_DIALECT,
  decodeRequest,
  encodeRequest,
  encodeResponse,
  encodeZoneHeaders,
  Extension,
  kdsSyncService,
  openResponse,
  ResourceEncoder,
  UNBOUNDED,
  type WireResource,
} from '@causeway/kds/testing';

type Stream = ClientDuplexStream<Buffer, Buffer>;

/** Options of a light zone. */
export interface LightZoneOptions {
  readonly zone: string;
  readonly token: string;
  readonly address: string;
  readonly credentials: ChannelCredentials;
  /** Services of the zone's own. */
  readonly services: number;
}

/** A message that fits in one chunk. */
const CHUNK = 500;
/** Kinds that the global sends to zones. */
const DOWN_KINDS = coreKinds.kinds.filter(({ sync }) => sync.down).map(({ name }) => name);
const EXTENSIONS = Object.values(Extension);

/**
 * A zone that speaks the real protocol and stores nothing: it sends its services, acknowledges what it receives, and counts. Hundreds of zones with
 * the whole mesh fit on one host; the work of a zone with received resources is left out.
 */
export class LightZone {
  /** Resources of services that came down, and bytes of all messages. */
  services = 0;
  bytes = 0;
  messages = 0;
  /** Called with each message of changes of services; its bytes contain the names in clear. */
  onChange: ((bytes: Buffer) => void) | undefined;
  private client: Client;
  private readonly encoder: ResourceEncoder;
  private readonly streams: Stream[] = [];
  private headers: ReturnType<typeof encodeZoneHeaders> | undefined;
  private uploaded: string[] = [];
  private up: Stream | undefined;
  private nonce = 0;
  private revision: number;
  /** Kinds whose first state has come, and where each ends, for the next handshake. */
  private readonly points = new Map<string, HandshakeRequest['resumePoints'][number]>();
  /** Resources that the global holds of this zone, from the last handshake. */
  private known = new Set<string>();
  /** When it created each of its services, as control planes count it, and the last revision that changed it. */
  private readonly made = new Map<string, { readonly creationOrder: number; readonly revision: number }>();

  constructor(private readonly options: LightZoneOptions) {
    this.client = this.newClient();
    this.encoder = new ResourceEncoder({ role: 'zone', zone: options.zone, federated: true });
    this.revision = options.services + 1;
  }

  /** Opens a session; resumes from what it received before. */
  async join(): Promise<void> {
    const { zone, token } = this.options;
    const { session, resumePoints } = await this.shakeHands();
    this.known = new Set(resumePoints.map(({ kind }) => kind));
    this.headers = encodeZoneHeaders({ zone, token, version: '0', session, extensions: EXTENSIONS });
  }

  /** Sends all of its services; resolves when the global has acknowledged all of them. */
  async upload(): Promise<void> {
    const stream = this.open('zoneToGlobalSync');
    this.up = stream;
    await new Promise<void>((resolve, reject) => {
      stream.on('error', reject).on('data', (bytes: Buffer) => {
        const request = decodeRequest(bytes);
        if (request.type === 'nack') return reject(new Error(`the global rejected: ${request.message}`));
        if (request.type === 'subscribe') return this.answer(stream, request.kind);
        if (request.kind !== 'MeshService') return;
        this.adopt(request.orders ?? []);
        if (!this.next(stream)) resolve();
      });
    });
  }

  /** Asks for everything; resolves when the first state of every kind has come. */
  async download(): Promise<void> {
    const stream = this.open('globalToZoneSync');
    const missing = new Set(DOWN_KINDS);
    await new Promise<void>((resolve, reject) => {
      stream.on('error', reject).on('data', (bytes: Buffer) => {
        if (this.take(stream, bytes)) missing.delete(this.lastKind);
        if (missing.size === 0) resolve();
      });
      const { zone } = this.options;
      for (const kind of DOWN_KINDS) stream.write(encodeRequest({ type: 'subscribe', kind, zone, held: {} }));
    });
  }

  /** Changes or creates a service of its own. Throws if its stream has ended: the write would never arrive. */
  change(name: string): void {
    if (this.up?.destroyed !== false) throw new Error(`the stream of zone ${this.options.zone} up has ended`);
    this.revision += 1;
    this.made.set(name, { creationOrder: Date.now() * 1_000, revision: this.revision });
    this.up.write(this.response('MeshService', [this.service(name)], { more: false }));
  }

  /** Ends without farewell, as a process does whose link is cut. */
  leave(): void {
    for (const stream of this.streams.splice(0)) {
      stream.removeAllListeners('error').on('error', () => undefined);
      stream.cancel();
    }
    this.client.close();
    this.client = this.newClient();
    this.services = this.bytes = this.messages = 0;
  }

  /** Ranks services as the global does, and sends them again: until then the global notes no point to resume from. */
  private adopt(orders: readonly { readonly name: string; readonly creationOrder: number }[]): void {
    for (const { name, creationOrder } of orders) {
      this.made.set(name, { creationOrder, revision: ++this.revision });
      this.uploaded.push(name);
    }
  }

  private lastKind = '';

  /** Handles a message from the global; returns true if it completes or changes the first state of its kind. */
  private take(stream: Stream, bytes: Buffer): boolean {
    const { kind, nonce, position, entries } = openResponse(bytes, UNBOUNDED);
    this.bytes += bytes.length;
    this.messages += 1;
    this.lastKind = kind;
    if (kind === 'MeshService') {
      this.services += entries.length;
      this.onChange?.(bytes);
    }
    if (position && !position.more && position.revision > 0) {
      const { incarnation, revision, view, mac = '' } = position;
      this.points.set(kind, { kind, incarnation, revision, view, mac });
    }
    stream.write(encodeRequest({ type: 'ack', kind, nonce, zone: this.options.zone, results: [] }));
    return position?.more === false;
  }

  /** The whole state of a kind, or that nothing has changed since the global got it. */
  private answer(stream: Stream, kind: string): void {
    const resumed = this.known.has(kind);
    if (kind === 'MeshService' && !resumed) {
      this.uploaded = Array.from({ length: this.options.services }, (_, n) => `service-${n}`);
      for (const [n, name] of this.uploaded.entries())
        if (!this.made.has(name)) this.made.set(name, { creationOrder: Date.now() * 1_000, revision: n + 1 });
      this.next(stream);
    } else stream.write(this.response(kind, [], { more: false, resumed }));
  }

  /** Sends the next chunk of its services; returns false if there is none. */
  private next(stream: Stream): boolean {
    const names = this.uploaded.splice(0, CHUNK);
    if (names.length === 0) return false;
    const resources = names.map((name) => this.service(name));
    return stream.write(this.response('MeshService', resources, { more: this.uploaded.length > 0 })) || true;
  }

  private response(
    kind: string,
    resources: readonly WireResource[],
    { more, resumed = false }: { readonly more: boolean; readonly resumed?: boolean },
  ): Buffer {
    const encoded = resources.map((resource) => {
      const encoding = this.encoder.encodeWire(resource, CAUSEWAY_DIALECT);
      if (!encoding.ok) throw new Error(encoding.reason);
      return encoding.resource;
    });
    const position = { incarnation: 'one', revision: more ? 0 : this.revision, view: '', more, resumed, gone: [] };
    const head = { kind, nonce: String(++this.nonce), controlPlane: this.options.zone, position };
    return encodeResponse({ ...head, resources: encoded, removed: [] });
  }

  /** A service as a zone's control plane makes it of a Dataplane. */
  private service(name: string): WireResource {
    const { zone } = this.options;
    const { creationOrder, revision } = this.made.get(name) ?? { creationOrder: 0, revision: 0 };
    const origin = { incarnation: 'one', revision, committedAt: Math.floor(creationOrder / 1_000) };
    const spec = {
      selector: { dataplaneTags: { 'kuma.io/service': name } },
      ports: [{ port: 1_000 + (revision % 60_000), targetPort: 8_080, appProtocol: 'http' }],
      state: 'Available',
    };
    const labels = {
      'kuma.io/origin': 'zone',
      'kuma.io/zone': zone,
      'kuma.io/display-name': name,
      'kuma.io/mesh': 'default',
      'kuma.io/env': 'universal',
      'kuma.io/managed-by': 'meshservice-generator',
    };
    const meta = { uid: `${zone}-${name}`, zone, namespace: 'default', generation: 1, creationOrder, origin };
    return { kind: 'MeshService', mesh: 'default', name: `${name}-${zone}-wire`, labels, spec, meta };
  }

  private open(method: 'zoneToGlobalSync' | 'globalToZoneSync'): Stream {
    const { path, requestSerialize, responseDeserialize } = kdsSyncService[method];
    if (!this.headers) throw new Error('join first');
    const stream = this.client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, this.headers);
    this.streams.push(stream);
    return stream;
  }

  private shakeHands(): Promise<HandshakeResponse> {
    const { zone, token, address, credentials } = this.options;
    const client = new SyncServiceClient(address, credentials, { channelOverride: this.client.getChannel() });
    const request = HandshakeRequest.fromPartial({
      zone,
      storeId: zone,
      incarnation: 'one',
      instance: zone,
      features: EXTENSIONS,
      revision: this.revision,
      resumePoints: [...this.points.values()],
    });
    return new Promise((resolve, reject) => {
      client.handshake(request, encodeZoneHeaders({ zone, token, version: '0' }), (error, response) => {
        if (error) reject(error);
        else resolve(response);
      });
    });
  }

  private newClient(): Client {
    return new Client(this.options.address, this.options.credentials, {
      'grpc.enable_retries': 0,
      // A connection of its own: clients of one process would share one.
      'grpc.use_local_subchannel_pool': 1,
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
      'grpc.initial_reconnect_backoff_ms': 200,
      'grpc.max_reconnect_backoff_ms': 2_000,
    });
  }
}
