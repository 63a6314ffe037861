import { once } from 'node:events';
import { createServer } from 'node:http2';
import {
  credentials,
  makeClientConstructor,
  Server,
  ServerCredentials,
  type Client as ServiceClient,
  type ClientDuplexStream,
  type ServerDuplexStream,
} from '@grpc/grpc-js';
import { kdsChannelOptions, kdsSyncService } from './kds-service';
import { KUMA_DIALECT } from './dialect';
import { decodeZoneHeaders, encodeZoneHeaders, type ZoneHeaders } from './headers';
import { decodeRequest, encodeRequest } from './request';
import { ResourceEncoder } from './resource-encoder';
import { encodeResponse } from './response';
import { decodeResponse } from '../../testing/decode-response';

type KdsCall = ServerDuplexStream<Buffer, Buffer>;

const LARGE = 6 * 1024 * 1024;

/** A response of six megabytes to each request: more than gRPC lets through by default. */
function answer(stream: KdsCall, seen: ZoneHeaders[]): void {
  seen.push(decodeZoneHeaders(stream.metadata));
  stream.on('error', () => undefined);
  stream.on('data', (bytes: Buffer) => {
    const { kind } = decodeRequest(bytes);
    const spec = { config: 'x'.repeat(LARGE) };
    const config = { kind, name: 'kuma-cluster-id', mesh: '', labels: { 'kuma.io/origin': 'global' }, spec };
    const encoding = new ResourceEncoder({ role: 'global' }).encodeWire(config, KUMA_DIALECT);
    const resources = encoding.ok ? [encoding.resource] : [];
    stream.write(encodeResponse({ kind, nonce: '1', controlPlane: 'global', resources, removed: [] }));
  });
}

it('carries more than gRPC lets through by default, with the zone’s headers', async () => {
  const seen: ZoneHeaders[] = [];
  const server = new Server(kdsChannelOptions.server);
  const handler = (stream: KdsCall): void => answer(stream, seen);
  server.addService(kdsSyncService, { globalToZoneSync: handler, zoneToGlobalSync: handler });
  const client = connect(await listen(server));
  try {
    const { path, requestSerialize, responseDeserialize } = kdsSyncService.globalToZoneSync;
    const headers = encodeZoneHeaders({ zone: 'east', version: '1', session: 3 });
    const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, headers);
    stream.write(encodeRequest({ type: 'subscribe', kind: 'Config', zone: 'east', held: {} }));
    const received = decodeResponse(await nextMessage(stream), KUMA_DIALECT);
    expect(received.resources[0]).toMatchObject({ ok: true, resource: { name: 'kuma-cluster-id' } });
    expect(seen).toEqual([{ zone: 'east', version: '1', session: 3, features: ['zone-ping-health', 'hash-suffix'] }]);
  } finally {
    client.close();
    server.forceShutdown();
  }
});

it('compresses what a zone sends, as Kuma’s do', async () => {
  const server = createServer();
  const seen = new Promise<{ encoding: unknown; flag: number | undefined }>((resolve) => {
    server.on('stream', (stream, headers) => {
      stream.once('data', (frame: Buffer) => resolve({ encoding: headers['grpc-encoding'], flag: frame[0] }));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const client = connect(typeof address === 'object' ? (address?.port ?? 0) : 0);
  try {
    const { path, requestSerialize, responseDeserialize } = kdsSyncService.globalToZoneSync;
    const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    stream.on('error', () => undefined);
    stream.write(encodeRequest({ type: 'subscribe', kind: 'Mesh', zone: 'east', held: {} }));
    expect(await seen).toEqual({ encoding: 'gzip', flag: 1 });
    stream.cancel();
  } finally {
    client.close();
    const closed = once(server, 'close');
    server.close(); // returns nothing on Node 24
    await closed;
  }
});

function connect(port: number): ServiceClient {
  const Client = makeClientConstructor(kdsSyncService, 'KDSSyncService');
  return new Client(`127.0.0.1:${port}`, credentials.createInsecure(), kdsChannelOptions.client);
}

async function nextMessage(stream: ClientDuplexStream<Buffer, Buffer>): Promise<Buffer> {
  const arrived: unknown[] = await once(stream, 'data');
  stream.on('error', () => undefined);
  stream.cancel();
  const [bytes] = arrived;
  return Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0);
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    );
  });
}
