import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { systemClock } from '@causeway/runtime';
import { Server, ServerCredentials, status, type ServiceError } from '@grpc/grpc-js';
import { TestAuthority } from '../../../../test/support/test-authority';
import { until } from '../../../../test/support/until';
import type { AdsClientTls } from './client-credentials';
import { ClientConnections, isOfConnection, type ClientConnection } from './client-connections';

const asIs = (bytes: Buffer): Buffer => bytes;
const PATH = '/test.Connections/Echo';
const echo = {
  path: PATH,
  requestStream: false,
  responseStream: false,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
} as const;

/** The answer of a call, or its status. */
function call({ client }: ClientConnection): Promise<string | status> {
  return new Promise((resolve) =>
    client.makeUnaryRequest(PATH, asIs, asIs, Buffer.from('hello'), (error: ServiceError | null, value?: Buffer) =>
      resolve(error ? error.code : String(value)),
    ),
  );
}

describe('the connections of a proxy to a control plane', () => {
  const sockets = new Set<Socket>();
  let server: Server;
  let listener: NetServer;
  let address: string;
  let first: AdsClientTls;
  let second: AdsClientTls;
  let accepted = 0;
  beforeAll(async () => {
    const authority = await TestAuthority.create('zone');
    const { chain, key } = await authority.issue({ ip: '127.0.0.1' });
    const shown = async (): Promise<AdsClientTls> => ({
      authorities: authority.certificate,
      identity: await authority.issue({ uri: 'spiffe://mesh/a' }),
    });
    [first, second] = [await shown(), await shown()];
    server = new Server();
    server.addService(
      { echo },
      { echo: (call: { request: Buffer }, done: (error: null, answer: Buffer) => void) => done(null, call.request) },
    );
    const pair = { cert_chain: Buffer.from(chain), private_key: Buffer.from(key) };
    const injector = server.createConnectionInjector(ServerCredentials.createSsl(null, [pair]));
    listener = createServer((socket) => {
      accepted += 1;
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      injector.injectConnection(socket);
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const at = listener.address();
    address = `127.0.0.1:${typeof at === 'object' ? at?.port : ''}`;
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.forceShutdown();
    listener.close();
  });
  beforeEach(() => (accepted = 0));

  it('are one for all streams, and it ends with the last of them', async () => {
    const connections = new ClientConnections(systemClock);
    const [lease, discovery] = [connections.use(address, first), connections.use(address, { ...first })];
    expect(await Promise.all([call(lease), call(discovery)])).toEqual(['hello', 'hello']);
    expect([accepted, sockets.size]).toEqual([1, 1]);
    lease.release();
    lease.release();
    expect(await call(discovery)).toBe('hello');
    const later = connections.use(address, first);
    discovery.release();
    expect(await call(later)).toBe('hello');
    expect(accepted).toBe(1);
    later.release();
    await until('its end', () => sockets.size === 0);
    const again = connections.use(address, first);
    expect(await call(again)).toBe('hello');
    expect(accepted).toBe(2);
    again.release();
    await until('the end of the next one', () => sockets.size === 0);
  });

  it('are others for another certificate, while who shows the old one goes on', async () => {
    const connections = new ClientConnections(systemClock);
    const old = connections.use(address, first);
    expect(await call(old)).toBe('hello');
    const renewed = connections.use(address, second);
    expect(await Promise.all([call(old), call(renewed)])).toEqual(['hello', 'hello']);
    expect(accepted).toBe(2);
    old.release();
    const next = connections.use(address, second);
    expect(await call(next)).toBe('hello');
    expect(accepted).toBe(2);
    renewed.release();
    next.release();
    await until('their end', () => sockets.size === 0);
  });

  it('are left by whoever found one broken, and nobody comes to it any more', async () => {
    const connections = new ClientConnections(systemClock);
    const [lease, discovery] = [connections.use(address, first), connections.use(address, first)];
    expect(await call(lease)).toBe('hello');
    lease.abandon();
    const next = connections.use(address, first);
    expect(await Promise.all([call(discovery), call(next)])).toEqual(['hello', 'hello']);
    expect(accepted).toBe(2);
    // The older one is not that which others share.
    discovery.release();
    const another = connections.use(address, first);
    expect(await call(another)).toBe('hello');
    expect(accepted).toBe(2);
    next.release();
    another.release();
    await until('their end', () => sockets.size === 0);
  });

  it('tell a dead server from one that refuses', async () => {
    const connections = new ClientConnections(systemClock);
    const dead = connections.use('127.0.0.1:1', first);
    const code = await call(dead);
    expect(code).toBe(status.UNAVAILABLE);
    expect([status.UNAVAILABLE, status.PERMISSION_DENIED, status.RESOURCE_EXHAUSTED].map(isOfConnection)).toEqual([
      true,
      false,
      false,
    ]);
    dead.abandon();
  });
});
