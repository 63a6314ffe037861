import { Client, credentials, type ClientDuplexStream } from '@grpc/grpc-js';
import {
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  encodeZoneHeaders,
  kdsSyncService,
  KUMA_DIALECT,
  ResourceEncoder,
  type WireResource,
} from '@causeway/kds/testing';
import { untilSoon } from './until';

type Stream = ClientDuplexStream<Buffer, Buffer>;

/** The responses that a Kuma control plane of a test gives; nonces count through all of them. */
export function kumaResponse(kind: string, nonce: number, resources: readonly WireResource[]): Buffer {
  const encoder = new ResourceEncoder({ role: 'global' });
  const encoded = resources.map((resource) => {
    const encoding = encoder.encodeWire(resource, KUMA_DIALECT);
    if (!encoding.ok) throw new Error(encoding.reason);
    return encoding.resource;
  });
  return encodeResponse({ kind, nonce: String(nonce), controlPlane: 'kuma', resources: encoded, removed: [] });
}

/** A zone of plain Kuma, as far as sync sees it: no handshake, acknowledges everything. */
export class KumaZone {
  private client: Client | undefined;
  private readonly heard = new Map<string, readonly WireResource[]>();
  private nonce = 0;
  private readonly streams: Stream[] = [];

  constructor(readonly zone: string) {}

  /** Opens GlobalToZoneSync and asks for these kinds; forgets earlier messages. */
  ask(global: { readonly port: number }, kinds: readonly string[]): void {
    this.heard.clear();
    const stream = this.open(global, 'globalToZoneSync');
    stream.on('data', (bytes: Buffer) => {
      const { kind, nonce, resources } = decodeResponse(bytes, KUMA_DIALECT);
      const read = resources.map((each) => {
        if (!each.ok) throw new Error(each.fault.reason);
        return each.resource;
      });
      if (!this.heard.has(kind)) this.heard.set(kind, read);
      stream.write(encodeRequest({ type: 'ack', kind, zone: this.zone, nonce, results: [] }));
    });
    for (const kind of kinds) {
      stream.write(encodeRequest({ type: 'subscribe', kind, zone: this.zone, held: {} }));
    }
  }

  /** Opens ZoneToGlobalSync and answers every kind that it is asked for with this state, else with an empty one. */
  tell(global: { readonly port: number }, state: Readonly<Record<string, readonly WireResource[]>>): void {
    const stream = this.open(global, 'zoneToGlobalSync');
    stream.on('data', (bytes: Buffer) => {
      const request = decodeRequest(bytes);
      if (request.type !== 'subscribe') return;
      stream.write(kumaResponse(request.kind, ++this.nonce, state[request.kind] ?? []));
    });
  }

  hasHeard(kind: string): boolean {
    return this.heard.has(kind);
  }

  /** Names of the first state of a kind since `ask`, once it has come. */
  async firstState(kind: string): Promise<readonly string[]> {
    const resources = await this.firstResources(kind);
    return resources.map(({ labels, name }) => labels['kuma.io/display-name'] ?? name).sort();
  }

  /** The first state of a kind since `ask`, once it has come. */
  async firstResources(kind: string): Promise<readonly WireResource[]> {
    await untilSoon(() => this.heard.has(kind));
    return this.heard.get(kind) ?? [];
  }

  /** Cancels its streams; the connection stays. */
  cancel(): void {
    for (const stream of this.streams.splice(0)) stream.cancel();
  }

  /** Ends both streams. */
  leave(): void {
    this.client?.close();
    this.client = undefined;
  }

  private open({ port }: { readonly port: number }, method: 'globalToZoneSync' | 'zoneToGlobalSync'): Stream {
    this.client ??= new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    const { path, requestSerialize, responseDeserialize } = kdsSyncService[method];
    const headers = encodeZoneHeaders({ zone: this.zone, version: '2.14.3' });
    const stream = this.client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, headers);
    this.streams.push(stream);
    return stream.on('error', () => undefined);
  }
}
