import { Client, credentials, type ClientDuplexStream } from '@grpc/grpc-js';
import { HandshakeRequest, SyncServiceClient, type HandshakeResponse } from '@causeway/proto-gen';
import type { Resource } from '@causeway/resources';
import {
  CAUSEWAY_DIALECT,
  decodeRequest,
  encodeResponse,
  encodeZoneHeaders,
  Extension,
  kdsSyncService,
  ResourceEncoder,
  getWireKey,
  type StatePosition,
} from '@causeway/kds/testing';

const EXTENSIONS = Object.values(Extension);

/** A Causeway zone that speaks for another: it has a session of its own, and its messages claim to be the other's. */
export class LyingZone {
  private readonly client: Client;
  private readonly encoder = new ResourceEncoder({ role: 'global' });
  private stream: ClientDuplexStream<Buffer, Buffer> | undefined;
  private nonce = 0;
  private readonly answered = new Map<string, () => void>();

  constructor(
    readonly zone: string,
    private readonly port: number,
  ) {
    this.client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  }

  /** Resolves when the global asks for MeshServices. */
  async join(): Promise<void> {
    const { session } = await this.shakeHands();
    const { path, requestSerialize, responseDeserialize } = kdsSyncService.zoneToGlobalSync;
    const headers = encodeZoneHeaders({ zone: this.zone, version: '0', session, extensions: EXTENSIONS });
    const stream = this.client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, headers);
    this.stream = stream.on('error', () => undefined);
    await new Promise<void>((asked) =>
      stream.on('data', (bytes: Buffer) => {
        const request = decodeRequest(bytes);
        if (request.type !== 'subscribe') this.answered.get(request.nonce)?.();
        else if (request.kind === 'MeshService') asked();
      }),
    );
  }

  /** Sends the other's resource, as it came from the other, as a whole state. Resolves with the answer. */
  claim(theirs: Resource): Promise<void> {
    const { id, labels, spec, uid, generation, creationOrder, origin } = theirs;
    const meta = { uid, zone: id.zone, namespace: id.namespace, generation, creationOrder, origin };
    const wire = { ...getWireKey(theirs), kind: id.kind, labels, spec: { ...spec, state: 'Unavailable' }, meta };
    const encoding = this.encoder.encodeWire(wire, CAUSEWAY_DIALECT);
    if (!encoding.ok) throw new Error(encoding.reason);
    return this.say({ resources: [encoding.resource], removed: [] }, { resumed: false, gone: [] });
  }

  /** Sends the deletion of the other's resource, by its name on the wire and by its identity. */
  remove(theirs: Resource): Promise<void> {
    return this.say({ resources: [], removed: [getWireKey(theirs)] }, { resumed: true, gone: [theirs.id] });
  }

  leave(): void {
    this.stream?.cancel();
    this.client.close();
  }

  private say(
    content: Pick<Parameters<typeof encodeResponse>[0], 'resources' | 'removed'>,
    mark: Pick<StatePosition, 'resumed' | 'gone'>,
  ): Promise<void> {
    const nonce = String(++this.nonce);
    const position = { incarnation: 'one', revision: this.nonce, view: '', more: false, ...mark };
    const head = { kind: 'MeshService', nonce, controlPlane: this.zone, position };
    this.stream?.write(encodeResponse({ ...head, ...content }));
    return new Promise((resolve) => this.answered.set(nonce, resolve));
  }

  private shakeHands(): Promise<HandshakeResponse> {
    const client = new SyncServiceClient(`127.0.0.1:${this.port}`, credentials.createInsecure(), {
      channelOverride: this.client.getChannel(),
    });
    const { zone } = this;
    const request = HandshakeRequest.create({ zone, storeId: zone, incarnation: 'one', features: EXTENSIONS });
    return new Promise((resolve, reject) => {
      client.handshake(request, encodeZoneHeaders({ zone, version: '0' }), (error, response) => {
        if (error) reject(error);
        else resolve(response);
      });
    });
  }
}
