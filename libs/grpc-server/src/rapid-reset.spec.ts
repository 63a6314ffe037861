import { once } from 'node:events';
import { connect, constants, type ClientHttp2Session } from 'node:http2';
import { Client, credentials, Metadata, Server, type handleUnaryCall, type ServiceError } from '@grpc/grpc-js';
import { CallerLog, silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { begunStreams, rapidResets, sendRaw, type RawEnd, type RawTarget } from '../../../test/support/raw-http2';
import { TestAuthority } from '../../../test/support/test-authority';
import { until } from '../../../test/support/until';
import type { ConnectionLimits } from './connection-acceptor';
import { GrpcListener } from './grpc-listener';
import type { Http2Streams } from './http2-streams';
import { DEFAULT_STREAM_RATES } from './stream-limits';
import { tlsServerCredentials } from './tls-credentials';

const PATH = '/test.Echo/Echo';
/** 118 kB. */
const STREAMS = 4_200;
/** Streams that a connection and an address may begin at once, by the presets, without credentials. */
const OWN = DEFAULT_STREAM_RATES.connection / 10;
const OF_ADDRESS = DEFAULT_STREAM_RATES.address * 2;
const TIMEOUT = 60_000;
const asIs = (bytes: Buffer): Buffer => bytes;
const echo = {
  path: PATH,
  requestStream: false,
  responseStream: false,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
} as const;

describe('streams that are begun and reset at once', () => {
  const clock = new FakeClock();
  let listener: GrpcListener;
  let authority: TestAuthority;
  let target: RawTarget;
  /** Calls that gRPC has seen. */
  let seen = 0;
  const clients: Client[] = [];

  beforeAll(async () => {
    authority = await TestAuthority.create('global');
  });
  beforeEach(() => {
    seen = 0;
    listen();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await listener.close();
  });

  function listen(limits: Partial<ConnectionLimits> = {}): void {
    const log = new CallerLog(silentLogger, clock);
    listener = new GrpcListener(createServer, { all: 1_000, address: 1_000, ...limits }, log, clock);
  }

  function createServer(streams: Http2Streams): Server {
    const count: typeof streams.interceptor = (method, call) => {
      seen += 1;
      return streams.interceptor(method, call);
    };
    const server = new Server({ interceptors: [count] });
    const answer: handleUnaryCall<Buffer, Buffer> = ({ metadata, request }, done) => {
      if (metadata.get('authorization')[0] === 'valid') streams.markAuthenticated(metadata);
      done(null, request);
    };
    server.addService({ echo }, { echo: answer });
    return server;
  }

  async function bind(): Promise<void> {
    target = { host: '127.0.0.1', port: await listener.bind('127.0.0.1', 0) };
  }

  async function certificates() {
    const { chain: certificate, key: privateKey } = await authority.issue({ ip: '127.0.0.1' });
    return { current: () => ({ certificate, privateKey }), onChange: () => () => undefined };
  }

  /** A client with a connection of its own. */
  function clientOf(): (token?: string) => Promise<ServiceError | undefined> {
    const client = new Client(`127.0.0.1:${target.port}`, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_retries': 0,
    });
    clients.push(client);
    return (token) => {
      const metadata = new Metadata();
      if (token !== undefined) metadata.set('authorization', token);
      return new Promise((resolve) =>
        client.makeUnaryRequest(PATH, asIs, asIs, Buffer.from('x'), metadata, (error) => resolve(error ?? undefined)),
      );
    };
  }

  it('end their connection before gRPC sees one', async () => {
    await bind();
    const end = await sendRaw(target, rapidResets(PATH, STREAMS), TIMEOUT);
    expect(end).toEqual({ closed: true, code: constants.NGHTTP2_ENHANCE_YOUR_CALM });
    expect(seen).toBe(0);
  });

  it('do so where they are not reset', async () => {
    await bind();
    const end = await sendRaw(target, begunStreams(PATH, STREAMS), TIMEOUT);
    expect(end).toEqual({ closed: true, code: constants.NGHTTP2_ENHANCE_YOUR_CALM });
    expect(seen).toBeLessThanOrEqual(OWN);
  });

  it('do so by TLS', async () => {
    const port = await listener.bind('127.0.0.1', 0, tlsServerCredentials(await certificates()));
    const end = await sendRaw({ host: '127.0.0.1', port, tls: true }, rapidResets(PATH, STREAMS), TIMEOUT);
    expect(end.closed).toBe(true);
    expect(seen).toBe(0);
  });

  it.each([true, false])('do so at a port that is shared with HTTP/1, by TLS: %s', async (tls) => {
    const port = await listener.bindShared('127.0.0.1', 0, {
      certificates: tls ? await certificates() : undefined,
      http: (_, response) => response.end(),
      clock,
      log: new CallerLog(silentLogger, clock),
    });
    const end = await sendRaw({ host: '127.0.0.1', port, tls }, rapidResets(PATH, STREAMS), TIMEOUT);
    expect(end.closed).toBe(true);
    expect(seen).toBe(0);
  });

  it('count against their address: its connections are closed unread, those of others and of the authenticated are not', async () => {
    await bind();
    const known = clientOf();
    expect(await known('valid')).toBeUndefined();
    for (let n = 0; n < OF_ADDRESS / OWN; n++) void sendRaw(target, begunStreams(PATH, OWN), TIMEOUT);
    const next = (): Promise<RawEnd> => sendRaw(target, begunStreams(PATH, 1), 1_000);
    await until('the end of its bucket', async () => (await next()).closed);
    expect(await next()).toEqual({ closed: true, code: undefined });
    expect(seen).toBeLessThanOrEqual(OF_ADDRESS);
    expect(await known()).toBeUndefined();
    const before = seen;
    void sendRaw({ ...target, localAddress: '127.0.0.2' }, begunStreams(PATH, 1), TIMEOUT);
    await until('the stream of another address', () => seen === before + 1);
    clock.advance(1_000);
    expect(await clientOf()()).toBeUndefined();
  });

  it('end an authenticated connection that begins more than it may', async () => {
    await bind();
    const burst = 2 * DEFAULT_STREAM_RATES.connection;
    const call = clientOf();
    expect(await call('valid')).toBeUndefined();
    for (let n = 0; n < burst; n += 500) {
      const errors = await Promise.all(Array.from({ length: 500 }, () => call()));
      expect(errors.filter((error) => error !== undefined)).toEqual([]);
    }
    expect((await call())?.code).toBeDefined();
    expect(seen).toBe(burst + 1);
  });

  it('are not bounded where the settings say so', async () => {
    listen({ streams: { connection: 0, address: 0 } });
    await bind();
    void sendRaw(target, begunStreams(PATH, 500), TIMEOUT);
    await until('all streams', () => seen === 500);
  });

  it('have a sibling: pings of a connection that has begun no stream end it too', async () => {
    await bind();
    const session: ClientHttp2Session = connect(`http://127.0.0.1:${target.port}`);
    session.on('error', () => undefined);
    const calm = once(session, 'goaway');
    await once(session, 'connect');
    const flood = (): void => void (!session.destroyed && session.ping(flood));
    for (let i = 0; i < 10; i++) flood();
    expect((await calm)[0]).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });
});
