import { Client, credentials, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js';
import { HandshakeRequest, SyncServiceClient, type HandshakeResponse } from '@causeway/proto-gen';
import {
  CAUSEWAY_DIALECT,
  decodeRequest,
  encodeResponse,
  encodeZoneHeaders,
  Extension,
  kdsSyncService,
  ResourceEncoder,
  type OutgoingResponse,
  type WireRequest,
  type WireResource,
} from '@causeway/kds/testing';

type Stream = ClientDuplexStream<Buffer, Buffer>;

/** A Causeway zone of a test that sends what it likes on its streams, and reads or does not. */
export class RoughZone {
  /** Requests and answers of the global on ZoneToGlobalSync. */
  readonly heard: WireRequest[] = [];
  /** Messages that the transport has taken from us. */
  accepted = 0;
  /** Status of the first stream that the global ended. */
  readonly ended: Promise<{ readonly code: number; readonly details: string }>;
  private readonly client: Client;
  private readonly encoder: ResourceEncoder;
  private readonly streams: Stream[] = [];
  private headers: ReturnType<typeof encodeZoneHeaders> | undefined;
  private nonce = 0;
  private end: (status: { readonly code: number; readonly details: string }) => void = () => undefined;

  constructor(
    readonly zone: string,
    private readonly port: number,
    private readonly extensions: readonly string[] = Object.values(Extension),
  ) {
    this.client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), { 'grpc.enable_retries': 0 });
    this.encoder = new ResourceEncoder({ role: 'zone', zone, federated: true });
    this.ended = new Promise((resolve) => (this.end = resolve));
  }

  /** Shakes hands. */
  async join(): Promise<HandshakeResponse> {
    const { zone, extensions } = this;
    const response = await this.shakeHands();
    this.headers = encodeZoneHeaders({ zone, version: '0', session: response.session, extensions });
    return response;
  }

  /** Opens ZoneToGlobalSync and resolves when the global asks for MeshServices. */
  async openUp(): Promise<Stream> {
    const stream = this.open('zoneToGlobalSync');
    await new Promise<void>((asked) =>
      stream.on('data', (bytes: Buffer) => {
        const request = decodeRequest(bytes);
        this.heard.push(request);
        if (request.type === 'subscribe' && request.kind === 'MeshService') asked();
      }),
    );
    return stream;
  }

  /** Opens GlobalToZoneSync. */
  openDown(): Stream {
    return this.open('globalToZoneSync').on('data', () => undefined);
  }

  /** Sends a message on a stream; counts it once the transport has taken it. */
  say(stream: Stream, bytes: Buffer): void {
    stream.write(bytes, () => this.accepted++);
  }

  /** A response of this zone; `rest` over a change of MeshServices that names nothing. */
  response(resources: readonly WireResource[], rest: Partial<OutgoingResponse> = {}): Buffer {
    const encoded = resources.map((resource) => {
      const encoding = this.encoder.encodeWire(resource, CAUSEWAY_DIALECT);
      if (!encoding.ok) throw new Error(encoding.reason);
      return encoding.resource;
    });
    const nonce = String(++this.nonce);
    const mark = { incarnation: 'one', revision: this.nonce, view: '', more: true, resumed: false, gone: [] };
    const head = { kind: 'MeshService', nonce, controlPlane: this.zone, position: mark };
    return encodeResponse({ ...head, resources: encoded, removed: [], ...rest });
  }

  /** A MeshService of this zone as sent by sync; `port` distinguishes its versions. */
  service(name: string, port: number, ports = 1): WireResource {
    const { zone } = this;
    const origin = { incarnation: 'one', revision: port, committedAt: 0 };
    const spec = {
      ports: Array.from({ length: ports }, (_, i) => ({ port: port + i, targetPort: 8080, appProtocol: 'tcp' })),
      state: 'Available',
    };
    const labels = { 'kuma.io/origin': 'zone', 'kuma.io/zone': zone, 'kuma.io/display-name': name };
    const meta = { uid: `uid-${name}`, zone, namespace: 'default', generation: 1, creationOrder: 1, origin };
    return { kind: 'MeshService', mesh: 'default', name: `${name}-wire`, labels, spec, meta };
  }

  /** Meshes of this zone, which no zone may have: each is refused. */
  refused(names: readonly string[]): Buffer {
    const resources = names.map((name) => ({ ...this.service(name, 1), kind: 'Mesh', mesh: '', name, spec: {} }));
    return this.response(resources, { kind: 'Mesh' });
  }

  /** Nonces of the global's answers to MeshServices, in order. */
  answers(): readonly string[] {
    return this.heard.flatMap((request) => (request.type === 'subscribe' ? [] : [request.nonce]));
  }

  leave(): void {
    for (const stream of this.streams) stream.cancel();
    this.client.close();
  }

  private open(method: 'zoneToGlobalSync' | 'globalToZoneSync'): Stream {
    const { path, requestSerialize, responseDeserialize } = kdsSyncService[method];
    if (!this.headers) throw new Error('join first');
    const stream = this.client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, this.headers);
    this.streams.push(stream);
    return stream.on('error', (error: Error & Partial<ServiceError>) =>
      this.end({ code: error.code ?? -1, details: error.details ?? '' }),
    );
  }

  private shakeHands(): Promise<HandshakeResponse> {
    const client = new SyncServiceClient(`127.0.0.1:${this.port}`, credentials.createInsecure(), {
      channelOverride: this.client.getChannel(),
    });
    const { zone, extensions } = this;
    const request = HandshakeRequest.create({ zone, storeId: zone, incarnation: 'one', features: [...extensions] });
    return new Promise((resolve, reject) => {
      client.handshake(request, encodeZoneHeaders({ zone, version: '0' }), (error, response) => {
        if (error) reject(error);
        else resolve(response);
      });
    });
  }
}
