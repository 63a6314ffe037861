import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { connect, createServer, type AddressInfo } from 'node:net';
import type { JsonObject, Resource } from '@causeway/resources';
import type { BuiltinProxy } from '../support/builtin-proxy';
import type { EnvoyProcess } from '../support/envoy-process';
import { echo, say, type ServiceProcess } from '../support/mesh-processes';
import { TestAuthority, type TestCertificate } from '../support/test-authority';
import { PROXY_KINDS, TrafficPlane } from '../support/traffic-plane';
import { sketch } from '../support/traffic-zone';
import { until } from '../support/until';

/** Loopback addresses that no other suite uses. */
const BLOCK = `127.${20 + (process.pid % 200)}.${Math.floor(Math.random() * 256)}`;
const SERVER = `${BLOCK}.101`;
const PORT = 6379;
const VIP = `${BLOCK}.7`;

const mesh = (status: JsonObject = {}): Resource => {
  const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'p' };
  return sketch('Mesh', 'default', { parametersRef }, { status });
};
const settings = (spec: JsonObject): Resource => sketch('MeshParameters', 'p', spec);
const redis = sketch(
  'MeshService',
  'redis',
  {
    selector: { dataplaneTags: { app: 'redis' } },
    ports: [{ port: PORT, appProtocol: 'tcp' }],
    identities: [{ type: 'SpiffeID', value: 'spiffe://default.east.mesh.local/workload/server' }],
  },
  { zone: 'east', status: { vip: { ip: VIP } } },
);

/** A connection that has had an answer; `closed` resolves when the other side ends it. */
interface Open {
  readonly answer: string;
  /** Sends one more text; resolves with the answer, empty if the connection has ended. */
  readonly again: (text: string) => Promise<string>;
  readonly closed: Promise<void>;
}

/** Returns the answer over TLS of the mesh; it is empty if the connection ends before. */
function sayTls(options: ConnectionOptions, text = 'hello'): Promise<Open> {
  return new Promise((resolve) => {
    const socket = connectTls({ rejectUnauthorized: false, ALPNProtocols: ['kuma'], ...options });
    const closed = new Promise<void>((done) => socket.on('close', () => done()));
    const again = (more: string): Promise<string> =>
      new Promise((done) => {
        socket.once('data', (part) => done(part.toString()));
        void closed.then(() => done(''));
        socket.write(more);
      });
    socket.on('secureConnect', () => socket.write(text));
    socket.on('data', (part) => resolve({ answer: part.toString(), again, closed }));
    socket.on('error', () => undefined).on('close', () => resolve({ answer: '', again, closed }));
  });
}

describe.each(PROXY_KINDS)('an inbound of %s', (kind) => {
  let plane: TrafficPlane;
  let server: EnvoyProcess | BuiltinProxy;
  let app: ServiceProcess;
  let client: TestCertificate;
  /** The server's Dataplane. */
  let own: Resource;

  const at = { host: SERVER, port: PORT };
  const asClient = () => sayTls({ ...at, cert: client.chain, key: client.key });
  const plaintext = () => say(SERVER, PORT);
  const stat = (name: string): Promise<number> => server.stat(`listener.${SERVER}_${PORT}.ssl.${name}`);

  /** Applies settings, and waits until the server's proxy has them. */
  async function apply(...resources: readonly Resource[]): Promise<void> {
    plane.state.put(...resources);
    await until('the settings', () => plane.isSettled('server'));
  }

  /** A client's proxy at the address of the service, one for all tests. */
  async function startClient(): Promise<void> {
    const listed = new Set(['kri_msvc_default_east__redis_6379']);
    if (plane.views.has('client')) return;
    await plane.proxy(kind, 'client', { mesh: 'default', listed, capture: { type: 'bind' } }, 'client');
  }

  beforeAll(async () => {
    plane = await TrafficPlane.start('east');
    app = await echo('redis');
    client = await plane.authority.issue({ uri: plane.spiffeId('client') });
    plane.state.isReady = false;
    plane.state.put(mesh(), settings({}), plane.trust(), redis);
    const inbound = [{ port: PORT, servicePort: app.port, tags: { app: 'redis' } }];
    own = plane.dataplane('server', { address: SERVER, inbound });
    const view = { mesh: 'default', listed: new Set<string>(), dataplane: own.id };
    server = await plane.proxy(kind, 'server', view, 'server');
  });
  afterAll(async () => {
    await plane.stop();
    await app.stop();
  });
  afterEach(() => expect(plane.problems()).toEqual([]));

  it('is not there before a complete first state of what decides who may call', async () => {
    await until('the proxy', () => plane.isSettled('server'));
    expect(await server.stat('listener_manager.total_listeners_active')).toBe(0);
    plane.state.isReady = true;
    await until('the inbound', async () => (await asClient()).answer === 'redis:hello');
  });

  it('refuses the certificate of an enrolment that has ended, and no other of the same id', async () => {
    const uid = '6f1b2c0e-0000-4000-8000-000000000001';
    const stolen = await plane.authority.issue({ uri: plane.spiffeId('client'), subject: `CN=${uid}` });
    const asThief = () => sayTls({ ...at, cert: stolen.chain, key: stolen.key });
    const before = await asThief();
    expect(before.answer).toBe('redis:hello');
    const spec = { revokedAt: 1, ended: [{ enrolment: uid, until: Number.MAX_SAFE_INTEGER }] };
    const revocation = sketch('WorkloadRevocation', 'client', spec, { zone: 'east' });
    await apply(revocation);
    await before.closed;
    await until('it is refused', async () => (await asThief()).answer === '');
    expect((await asClient()).answer).toBe('redis:hello');
    plane.state.delete(revocation);
    await until('the settings', () => plane.isSettled('server'));
  });

  it.each<[string, (strangers: TestAuthority) => Promise<Partial<TestCertificate>>, string]>([
    ['no certificate', () => Promise.resolve({}), 'fail_verify_no_cert'],
    ['a certificate of strangers', (by) => by.issue({ uri: plane.spiffeId('client') }), 'fail_verify_error'],
    [
      'an expired certificate',
      () => plane.authority.issue({ uri: plane.spiffeId('client') }, -60_000),
      'fail_verify_error',
    ],
    ['no SPIFFE id', () => plane.authority.issue({ dns: 'client.example' }), 'fail_verify_error'],
    [
      'an id of a trust domain whose authority did not sign it',
      () => plane.authority.issue({ uri: 'spiffe://default.west.mesh.local/workload/client' }),
      'fail_verify_error',
    ],
  ])('Strict refuses and counts a client with %s, and the process sees nothing of it', async (_, make, counter) => {
    const west = await TestAuthority.create('west');
    const caBundles = [{ type: 'Pem', pem: { value: west.certificate } }];
    await apply(sketch('MeshTrust', 'west', { trustDomain: 'default.west.mesh.local', caBundles }, { zone: '' }));
    const { chain, key } = await make(await TestAuthority.create('strangers'));
    const [refused, dialled] = [await stat(counter), app.accepted()];
    const own = chain !== undefined && key !== undefined ? { cert: chain, key } : {};
    expect((await sayTls({ ...at, ...own })).answer).toBe('');
    await until('the count', async () => (await stat(counter)) > refused);
    expect(app.accepted()).toBe(dialled);
    const other = await west.issue({ uri: 'spiffe://default.west.mesh.local/workload/client' });
    expect((await sayTls({ ...at, cert: other.chain, key: other.key })).answer).toBe('redis:hello');
  });

  it('Strict refuses and counts plaintext, and the process sees nothing of it', async () => {
    const [refused, dialled] = [await stat('connection_error'), app.accepted()];
    expect(await plaintext()).not.toContain('redis'); // an alert of TLS at most
    await until('the count', async () => (await stat('connection_error')) > refused);
    expect(app.accepted()).toBe(dialled);
  });

  it('Permissive takes plaintext, also of clients that wait for the server, and TLS of the mesh; each is counted', async () => {
    await apply(settings({ mtls: 'Permissive' }));
    expect([await plaintext(), (await asClient()).answer]).toEqual(['redis:hello', 'redis:hello']);
    expect((await sayTls(at)).answer).toBe('');
    const silent = connect(PORT, SERVER);
    const dialled = app.accepted();
    await until('the process is dialled for the silent client', () => app.accepted() > dialled);
    silent.destroy();
    const counter = `tcp.inbound_${SERVER}_${PORT}_plaintext.downstream_cx_total`;
    expect(await server.stat(counter)).toBeGreaterThanOrEqual(2);
  });

  it('Off takes plaintext only', async () => {
    await apply(settings({ mtls: 'Off' }));
    expect([await plaintext(), (await asClient()).answer]).toEqual(['redis:hello', '']);
  });

  it('where nobody may call, callers are refused by the handshake, and nothing is dialled', async () => {
    await apply(settings({ defaultAccess: 'Deny' }));
    const dialled = app.accepted();
    expect((await asClient()).answer).toBe('');
    await until('the count', async () => (await stat('fail_verify_san')) > 0);
    expect(app.accepted()).toBe(dialled);
    await apply(settings({ defaultAccess: 'Deny', mtls: 'Off' }));
    expect(await plaintext()).toBe('');
    expect(app.accepted()).toBe(dialled);
  });

  it('a revoked identity is refused before its bytes reach the process, others may call, and it may again when it is taken out', async () => {
    await apply(settings({}));
    const before = await asClient();
    const other = await plane.authority.issue({ uri: plane.spiffeId('other') });
    await apply(settings({ revokedIdentities: [plane.spiffeId('client')] }));
    await before.closed;
    expect((await asClient()).answer).toBe('');
    expect((await sayTls({ ...at, cert: other.chain, key: other.key })).answer).toBe('redis:hello');
    expect(await server.sum(/rbac\.denied$/)).toBeGreaterThan(0);
    await apply(settings({}));
    expect((await asClient()).answer).toBe('redis:hello');
  });

  it('a process that speaks first is heard by a revoked identity through Envoy only, and hears nothing of it; where nobody may call, nobody hears it', async () => {
    await apply(settings({}));
    const heard: string[] = [];
    const mail = createServer((socket) => {
      socket.on('error', () => undefined).on('data', (part) => heard.push(part.toString()));
      socket.write('220 mail');
    });
    await new Promise<void>((listens) => mail.listen(0, '127.0.0.1', listens));
    const inbound = [
      { port: PORT, servicePort: app.port, tags: { app: 'redis' } },
      { port: 25, servicePort: (mail.address() as AddressInfo).port, tags: { app: 'mail' } },
    ];
    plane.dataplane('server', { address: SERVER, inbound });
    const call = () => sayTls({ host: SERVER, port: 25, cert: client.chain, key: client.key }, '');
    try {
      const allowed = await until('the inbound', async () => {
        const open = await call();
        return open.answer === '220 mail' && open;
      });
      void allowed.again('HELO allowed');
      await until('it is heard', () => heard.length > 0);
      await apply(settings({ revokedIdentities: [plane.spiffeId('client')] }));
      await allowed.closed;
      const revoked = await call();
      // Envoy's filter decides when the caller's first bytes come; the builtin plane at the handshake.
      const banner = kind === 'envoy' ? '220 mail' : '';
      expect([revoked.answer, await revoked.again('HELO revoked')]).toEqual([banner, '']);
      await apply(settings({ defaultAccess: 'Deny' }));
      await until('nobody hears it', async () => (await call()).answer === '');
      expect(heard).toEqual(['HELO allowed']);
    } finally {
      mail.close();
    }
  });

  it.each<[string, readonly Resource[]]>([
    ['defaultAccess becomes Deny', [settings({ defaultAccess: 'Deny' })]],
    ['a trust domain is gone', [mesh({ access: { narrowed: 1 } })]],
  ])('connections are closed when %s', async (_, narrower) => {
    await apply(mesh(), settings({}));
    const { answer, closed } = await asClient();
    expect(answer).toBe('redis:hello');
    await apply(...narrower);
    await closed;
  });

  it('plaintext connections are closed by Strict, and those over TLS stay', async () => {
    await apply(mesh(), settings({ mtls: 'Permissive' }));
    const overTls = await asClient();
    const socket = connect(PORT, SERVER, () => socket.write('hello'));
    const closed = new Promise((done) => socket.on('close', done).on('error', () => undefined));
    await new Promise((resolve) => socket.once('data', resolve));
    await apply(settings({ mtls: 'Strict' }));
    await closed;
    expect(await overTls.again('more')).toBe('redis:more');
  });

  it('clients speak plaintext to a Permissive server until its proxy has acknowledged TLS, and to one that is Off', async () => {
    await apply(mesh(), settings({ mtls: 'Permissive' }));
    await startClient();
    await until('the service', async () => (await say(VIP, PORT)) === 'redis:hello');
    const handshakes = await stat('handshake');
    expect(await say(VIP, PORT)).toBe('redis:hello');
    expect(await stat('handshake')).toBe(handshakes);
    plane.state.takeTls(own);
    await until('TLS', async () => (await say(VIP, PORT)) === 'redis:hello' && (await stat('handshake')) > handshakes);
    await apply(settings({ mtls: 'Off' }));
    await until('plaintext', async () => (await say(VIP, PORT)) === 'redis:hello');
    await apply(settings({}));
    await until('TLS again', async () => (await say(VIP, PORT)) === 'redis:hello');
  });

  it('clients believe no server with a revoked identity, and believe it again when it is taken out', async () => {
    await apply(mesh(), settings({}));
    await startClient();
    await until('an answer', async () => (await say(VIP, PORT)) === 'redis:hello');
    await apply(settings({ revokedIdentities: [plane.spiffeId('server')] }));
    await until('it is refused', async () => (await say(VIP, PORT)) === '');
    // Connections before the proxy applied it were answered.
    const dialled = app.accepted();
    expect(await say(VIP, PORT)).toBe('');
    expect(app.accepted()).toBe(dialled);
    await apply(settings({}));
    await until('an answer again', async () => (await say(VIP, PORT)) === 'redis:hello');
  });

  it('a connection ends with its age', async () => {
    await apply(settings({ maxConnectionAge: '1s' }));
    const { answer, closed } = await asClient();
    expect(answer).toBe('redis:hello');
    await closed;
  });

  it('serves an IPv6 address', async () => {
    await apply(settings({}));
    const inbound = [{ port: app.port, servicePort: app.port, tags: { app: 'redis' } }];
    plane.dataplane('server', { address: '::1', inbound });
    const own = { cert: client.chain, key: client.key };
    await until('the inbound', async () => (await sayTls({ host: '::1', port: app.port, ...own })).answer !== '');
    expect((await sayTls({ host: '::1', port: app.port })).answer).toBe('');
  });
});
