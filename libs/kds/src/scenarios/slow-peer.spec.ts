import { Client, credentials, status, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js';
import { HandshakeRequest, SyncServiceClient, type HandshakeResponse } from '@causeway/proto-gen';
import { coreKinds } from '@causeway/kinds';
import { identityKey } from '@causeway/resources';
import { FakeClock } from '@causeway/runtime/testing';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { PeerIndexView } from '../session/outbound/peer-index-view';
import { Extension } from '../wire/dialect';
import { CAUSEWAY_DIALECT } from '../../testing/dialects';
import { encodeZoneHeaders } from '../wire/headers';
import { encodeRequest } from '../wire/request';
import { ResourceEncoder } from '../wire/resource-encoder';
import { kdsSyncService } from '../wire/kds-service';
import { untilSoon } from '../../../../test/support/until';

const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };

/** A zone that asks for MeshServices and then neither reads nor answers. */
class StoppedZone {
  private readonly client: Client;
  private stream: ClientDuplexStream<Buffer, Buffer> | undefined;

  constructor(private readonly port: number) {
    this.client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  }

  async join(zone: string): Promise<void> {
    const extensions = Object.values(Extension);
    const { session } = await this.shakeHands(zone, extensions);
    const { path, requestSerialize, responseDeserialize } = kdsSyncService.globalToZoneSync;
    const headers = encodeZoneHeaders({ zone, version: '0', session, extensions });
    this.stream = this.client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, headers);
    this.stream.on('error', () => undefined);
    this.stream.pause();
    this.stream.write(encodeRequest({ type: 'subscribe', kind: 'MeshService', zone, held: {} }));
  }

  /** Reads on; resolves with the status that the stream ends with. */
  ended(): Promise<number> {
    return new Promise((resolve) => {
      this.stream?.on('error', (error: Error & Partial<ServiceError>) => resolve(error.code ?? -1));
      this.stream?.resume();
    });
  }

  leave(): void {
    this.stream?.cancel();
    this.client.close();
  }

  private shakeHands(zone: string, features: string[]): Promise<HandshakeResponse> {
    const client = new SyncServiceClient(`127.0.0.1:${this.port}`, credentials.createInsecure(), {
      channelOverride: this.client.getChannel(),
    });
    const request = HandshakeRequest.create({ zone, storeId: zone, incarnation: 'one', features });
    return new Promise((resolve, reject) => {
      client.handshake(request, encodeZoneHeaders({ zone, version: '0' }), (error, response) => {
        if (error) reject(error);
        else resolve(response);
      });
    });
  }
}

describe('a zone that does not read', () => {
  const clock = new FakeClock(1_000_000);
  const KEYS = 20;
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;
  let stopped: StoppedZone;

  beforeEach(async () => {
    global = new TestGlobal({ clock });
    [east, west] = [new TestZone('east'), new TestZone('west')];
    await global.put('Mesh', 'default', {});
    await global.serve();
    await Promise.all([east.join(global), west.join(global)]);
    await west.holds(global.id('Mesh', 'default'));
    stopped = new StoppedZone(global.port);
    await stopped.join('slow');
    await untilSoon(() => global.sync?.reports().has('slow') === true);
  });

  afterEach(async () => {
    stopped.leave();
    await Promise.all([east.close(), west.close()]);
    await global.close();
  });

  it('costs no more than the names of what it must hear, and delays nobody', async () => {
    for (let round = 1; round <= 10; round++) {
      const state = round % 2 === 0 ? 'Available' : 'Unavailable';
      await Promise.all(Array.from({ length: KEYS }, (_, i) => east.put('MeshService', `s${i}`, { ...SPEC, state })));
      await west.until(
        () => [...west.index.ofKind('MeshService')].filter(({ spec }) => spec['state'] === state).length === KEYS,
      );
    }
    const report = global.sync
      ?.reports()
      .get('slow')
      ?.find(({ kind }) => kind === 'MeshService');
    expect(report?.waiting).toBeLessThanOrEqual(KEYS);
    expect(report?.sent).toBe(0);
  });

  it('is torn down when nothing has moved for a minute, and not before', async () => {
    await east.put('MeshService', 'a', SPEC);
    await west.holds(east.id('MeshService', 'a'));
    for (const zone of ['east', 'west']) {
      for (const kind of ['MeshService', 'Zone']) await global.report(zone, kind);
    }
    clock.advance(59_000);
    expect(global.sync?.reports().has('slow')).toBe(true);
    clock.advance(10_000);
    await global.left('slow');
    expect(await stopped.ended()).toBe(status.CANCELLED);
    expect(global.sync?.reports().has('west')).toBe(true);
  });
});

it('a resource is encoded once for all peers of one dialect', async () => {
  const global = new TestGlobal();
  await global.put('Mesh', 'default', {});
  await global.holds(global.id('Mesh', 'default'));
  const source = {
    index: global.index,
    registry: coreKinds,
    encoder: new ResourceEncoder({ role: 'global' }),
    now: () => 0,
  };
  const everything = { isVisible: () => true, mayHold: () => true };
  const [one, other] = [1, 2].map(() => new PeerIndexView(source, () => CAUSEWAY_DIALECT, everything));
  const key = identityKey(global.id('Mesh', 'default'));
  expect(one?.get(key)?.encoded.entry.length).toBeGreaterThan(0);
  expect(one?.get(key)).toBe(other?.get(key));
  await global.close();
});
