import { connect, constants } from 'node:http2';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import type { X509Certificate } from 'node:crypto';
import { Client, credentials, Metadata, Server, type ServerWritableStream } from '@grpc/grpc-js';
import { CallerLog, silentLogger, systemClock } from '@causeway/runtime';
import { TestAuthority } from '../../../test/support/test-authority';
import { DEFAULT_CONNECTIONS } from './connection-acceptor';
import { GrpcListener } from './grpc-listener';
import { frameCompressed, frameMessage, type Http2Streams } from './http2-streams';
import { untilSoon } from '../../../test/support/until';

const asIs = (bytes: Buffer): Buffer => bytes;
const PATH = '/test.Flood/Flow';
const flow = {
  path: PATH,
  requestStream: false,
  responseStream: true,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
} as const;
const echo = { ...flow, path: '/test.Flood/Echo', responseStream: false } as const;

const anyName = { checkServerIdentity: () => undefined };

describe('the HTTP/2 streams of a gRPC server', () => {
  let streams: Http2Streams;
  let listener: GrpcListener;
  let address: string;
  const calls: ServerWritableStream<Buffer, Buffer>[] = [];
  const shown: (X509Certificate | undefined)[] = [];

  beforeEach(async () => {
    const create = (connections: Http2Streams): Server => {
      streams = connections;
      const server = new Server({ interceptors: [streams.interceptor] });
      server.addService(
        { flow, echo },
        {
          flow: (call: ServerWritableStream<Buffer, Buffer>) => void calls.push(call),
          echo: (call: { request: Buffer; metadata: Metadata }, done: (error: null, answer: Buffer) => void) => {
            shown.push(streams.findCertificate(call.metadata));
            done(null, call.request);
          },
        },
      );
      return server;
    };
    listener = new GrpcListener(create, DEFAULT_CONNECTIONS, new CallerLog(silentLogger, systemClock), systemClock);
    address = `127.0.0.1:${await listener.bind('127.0.0.1', 0)}`;
  });
  afterEach(async () => {
    shown.length = 0;
    await listener.close();
  });

  it('are reset though their peer does not read, and other calls of the connection go on', async () => {
    const client = new Client(address, credentials.createInsecure());
    const reading = client.makeServerStreamRequest(flow.path, asIs, asIs, Buffer.from('x'));
    const failed = once(reading, 'error');
    reading.pause();
    await untilSoon(() => calls.length > 0);
    const [call] = calls.splice(0);
    if (!call) throw new Error('no call');
    const ended = once(call, 'cancelled');
    for (let i = 0; i < 100; i++) call.write(Buffer.alloc(64 * 1024));
    streams.reset(call.metadata);
    await ended;
    const answer = new Promise<unknown>((resolve) =>
      client.makeUnaryRequest(echo.path, asIs, asIs, Buffer.from('hello'), (_, value) => resolve(value)),
    );
    expect(String(await answer)).toBe('hello');
    reading.resume();
    const [error] = await failed;
    expect(error).toMatchObject({ code: 1 });
    client.close();
  });

  it('carry compressed messages, in several members, to a client that says it reads gzip', async () => {
    const client = new Client(address, credentials.createInsecure());
    const reading = client.makeServerStreamRequest(flow.path, asIs, asIs, Buffer.from('x'));
    await untilSoon(() => calls.length > 0);
    const [call] = calls.splice(0);
    if (!call) throw new Error('no call');
    expect(streams.acceptsGzip(call.metadata)).toBe(true);
    const headers = new Metadata();
    headers.set('grpc-encoding', 'gzip');
    call.sendMetadata(headers);
    const members = [gzipSync(Buffer.from('a'.repeat(100_000))), gzipSync(Buffer.from('b'))];
    const frames = Buffer.concat([frameCompressed(members), frameMessage(Buffer.from('plain'))]);
    expect(frames.length).toBeLessThan(1_000);
    streams.write(call.metadata, frames, () => call.end());
    const messages: string[] = [];
    reading.on('data', (message: Buffer) => messages.push(message.toString()));
    await once(reading, 'end');
    expect(messages).toEqual([`${'a'.repeat(100_000)}b`, 'plain']);
    client.close();
  });

  it('do not compress for a peer that does not say so', async () => {
    const session = connect(`http://${address}`);
    const request = session.request({
      ':method': 'POST',
      ':path': PATH,
      'content-type': 'application/grpc',
      te: 'trailers',
      'grpc-accept-encoding': 'identity,gzip-not',
    });
    request.end(frameMessage(Buffer.from('x')));
    await untilSoon(() => calls.length > 0);
    const [call] = calls.splice(0);
    expect(call && streams.acceptsGzip(call.metadata)).toBe(false);
    session.destroy();
  });

  it('share the certificate that their connection has shown: it is read once', async () => {
    const authority = await TestAuthority.create('zone');
    const own = await authority.issue({ ip: '127.0.0.1' });
    const workload = await authority.issue({ uri: 'spiffe://mesh/a' });
    const port = await listener.bindShared('127.0.0.1', 0, {
      certificates: {
        current: () => ({ certificate: own.chain, privateKey: own.key }),
        onChange: () => () => undefined,
      },
      http: (_, response) => response.end(),
      clock: systemClock,
      log: new CallerLog(silentLogger, systemClock),
    });
    const [roots, key, chain] = [authority.certificate, workload.key, workload.chain].map((pem) => Buffer.from(pem));
    const client = new Client(`localhost:${port}`, credentials.createSsl(roots, key, chain, anyName));
    const ask = (): Promise<unknown> =>
      new Promise((resolve) =>
        client.makeUnaryRequest(echo.path, asIs, asIs, Buffer.from('hello'), (error, value) => resolve(error ?? value)),
      );
    expect([String(await ask()), String(await ask())]).toEqual(['hello', 'hello']);
    expect(shown[0]?.subjectAltName).toBe('URI:spiffe://mesh/a');
    expect(shown[1]).toBe(shown[0]);
    client.close();
  });

  it('share a connection that ends when its peer pings without measure', async () => {
    const session = connect(`http://${address}`);
    session.on('error', () => undefined);
    const closed = new Promise<void>((resolve) => session.once('close', () => resolve()));
    const calm = new Promise<number>((resolve) => session.once('goaway', (code: number) => resolve(code)));
    const request = session.request({
      ':method': 'POST',
      ':path': echo.path,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    request.on('error', () => undefined);
    request.end(Buffer.from([0, 0, 0, 0, 1, 65]));
    request.resume();
    await once(request, 'response');
    // Node sends at most ten pings at once; each answer allows another one.
    const flood = (): void => void (!session.destroyed && session.ping(flood));
    for (let i = 0; i < 10; i++) flood();
    expect(await calm).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    await closed;
  });
});
