import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { GlobalKDSServiceService } from '@causeway/proto-gen';
import {
  decodeRequest,
  decodeResponse,
  decodeZoneHeaders,
  encodeRequest,
  formatWireKey,
  kdsSyncService,
  KUMA_DIALECT,
  NODE_FEATURES,
  type SubscribeRequest,
  type WireResource,
} from '@causeway/kds/testing';
import { kumaResponse } from './kuma-zone';

type Stream = ServerDuplexStream<Buffer, Buffer>;

/**
 * A Kuma global of a test: no handshake, each kind answered with the present `state`. The kinds that it `relays` it passes from zone to zone as Kuma
 * does (docs/reference/kds-wire.md §4): name, mesh, labels and spec survive its store; fields of a resource's meta that Kuma does not know, such as
 * `cw-meta`, do not.
 */
export class KumaGlobal {
  readonly asked: SubscribeRequest[] = [];
  readonly nacks: string[] = [];
  state = new Map<string, readonly WireResource[]>();
  pings = 0;
  port = 0;
  private nonce = 0;
  private readonly down = new Map<string, Stream>();
  private readonly server = new Server();

  constructor(private readonly relays: readonly string[] = []) {}

  async serve(): Promise<void> {
    this.server.addService(kdsSyncService, {
      globalToZoneSync: (call: Stream) => this.begin(call),
      zoneToGlobalSync: (call: Stream) => this.listen(call),
    });
    this.server.addService(
      { healthCheck: GlobalKDSServiceService.healthCheck },
      {
        healthCheck: (_: unknown, callback: (error: null, response: object) => void) => {
          this.pings++;
          callback(null, { interval: undefined });
        },
      },
    );
    this.port = await new Promise<number>((resolve, reject) => {
      this.server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
        error ? reject(error) : resolve(port),
      );
    });
  }

  /** Sends to every zone the whole of a kind, without the zone's own resources. */
  say(kind: string): void {
    for (const zone of this.down.keys()) this.sayTo(zone, kind);
  }

  close(): void {
    this.server.forceShutdown();
  }

  private begin(call: Stream): void {
    const { zone } = decodeZoneHeaders(call.metadata);
    this.down.set(zone, call);
    call.on('error', () => undefined);
    call.on('data', (bytes: Buffer) => {
      const request = decodeRequest(bytes);
      if (request.type === 'nack') this.nacks.push(request.message);
      if (request.type !== 'subscribe') return;
      this.asked.push(request);
      if (this.state.has(request.kind)) this.sayTo(zone, request.kind);
    });
  }

  private listen(call: Stream): void {
    const { zone } = decodeZoneHeaders(call.metadata);
    const metadata = { version: '2.14.3', config: '', controlPlaneId: 'kuma-1', features: NODE_FEATURES };
    call.on('error', () => undefined);
    call.on('data', (bytes: Buffer) => {
      const { kind, nonce, resources } = decodeResponse(bytes, KUMA_DIALECT);
      const told = resources.flatMap((read) => (read.ok ? [read.resource] : []));
      this.store(kind, told);
      call.write(encodeRequest({ type: 'ack', kind, zone, nonce, results: [] }));
      this.say(kind);
    });
    for (const kind of this.relays) {
      call.write(encodeRequest({ type: 'subscribe', kind, zone, metadata, held: {} }));
    }
  }

  private store(kind: string, told: readonly WireResource[]): void {
    const stored = new Map((this.state.get(kind) ?? []).map((resource) => [formatWireKey(resource), resource]));
    for (const { name, mesh, labels, spec } of told) {
      const resource = { kind, name, mesh, labels: { ...labels, 'kuma.io/origin': 'global' }, spec };
      stored.set(formatWireKey(resource), resource);
    }
    this.state.set(kind, [...stored.values()]);
  }

  private sayTo(zone: string, kind: string): void {
    const theirs = (this.state.get(kind) ?? []).filter(({ labels }) => labels['kuma.io/zone'] !== zone);
    this.down.get(zone)?.write(kumaResponse(kind, ++this.nonce, theirs));
  }
}
