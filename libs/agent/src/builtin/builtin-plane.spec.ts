/*
 * Builtin plane: identities on both sides, backpressure, half-close, times, limits, ejection, retries, choice,
 * metrics, several processes. Also: libs/agent/src/builtin/upstream/host-set.spec.ts,
 * libs/agent/src/builtin/processes/plane-processes.spec.ts, test/agent/builtin.spec.ts.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Resource } from '@causeway/resources';
import type { EnvoyView } from '@causeway/xds-translation';
import { LocalPlane, ViewResources } from '../../../../test/support/local-plane';
import { loopbackBlock } from '../../../../test/support/loopback-networks';
import { echo, say, tlsEcho, type ServiceProcess } from '../../../../test/support/mesh-processes';
import { showsPeerChains } from '../../../../test/support/node-faults';
import { TestAuthority, type TestCertificate } from '../../../../test/support/test-authority';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { until } from '../../../../test/support/until';

const host = loopbackBlock();
const DOMAIN = 'default.west.mesh.local';
const idOf = (workload: string, domain = DOMAIN): string => `spiffe://${domain}/workload/${workload}`;
const SERVER = host(101);
const INGRESS = { address: host(110), port: 10001 };
const PORT = 6379;
/** Size of an answer that exceeds every buffer. */
const FLOOD = 64 * 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, 'x');

/** The addresses of services, by name. */
const VIPS = { echo: 1, flood: 2, stranger: 3, foreign: 4, silent: 5, breaks: 6, pair: 7, quiet: 8 } as const;
type App = keyof typeof VIPS;
const vip = (app: App): string => host(VIPS[app]);
const sni = (app: App): string => `sni.msvc.default.west.${app}.${PORT}`;

/** A client's plane and a server's plane in one zone, with the resources of the translation. */
describe('the builtin plane', () => {
  const zone = new TrafficZone();
  let authority: TestAuthority;
  let east: TestAuthority;
  let [server, client, ingress]: readonly LocalPlane[] = [];
  let flooding: { readonly socket: Socket; readonly server: Server } | undefined;
  /** A connection of which the client has ended its direction. */
  let waiting: Socket | undefined;
  let hanging: Promise<unknown>;
  let held: Promise<unknown>;
  const processes: ServiceProcess[] = [];
  const servers: Server[] = [];
  const identities = new Map<string, TestCertificate>();

  const service = (app: App, workload = 'server'): Resource => {
    const spec = { selector: { dataplaneTags: { app } }, ports: [{ port: PORT, targetPort: app }] };
    const ids = [{ type: 'SpiffeID', value: idOf(workload) }];
    return sketch('MeshService', app, { ...spec, identities: ids }, { status: { vip: { ip: vip(app) } } });
  };
  const dataplane = (name: string, address: string, inbound: readonly object[]): Resource =>
    sketch('Dataplane', name, { networking: { address, inbound: [...inbound] as never } });

  async function listen(take: (socket: Socket) => void): Promise<number> {
    const made = createServer((socket) => take(socket.on('error', () => undefined)));
    servers.push(made);
    made.listen(0, '127.0.0.1');
    await once(made, 'listening');
    const at = made.address();
    return typeof at === 'object' ? (at?.port ?? 0) : 0;
  }

  async function plane(name: string, view: Partial<EnvoyView>, options = {}): Promise<LocalPlane> {
    identities.set(name, await authority.issue({ uri: idOf(name) }));
    const identity = () => {
      const { chain = '', key = '' } = identities.get(name) ?? {};
      return { chain, key: { pem: key } };
    };
    const whole = { mesh: 'default', listed: new Set<string>(), identity, ...view };
    const made = new LocalPlane(new ViewResources(zone, 'west', whole), options);
    await made.start();
    return made;
  }

  /** Resolves when a connection is closed by the other side. */
  function closed(socket: Socket): Promise<unknown> {
    socket.on('error', () => undefined).resume();
    return new Promise((resolve) => socket.on('close', resolve));
  }

  beforeAll(async () => {
    [authority, east] = await Promise.all([TestAuthority.create('west', 1), TestAuthority.create('east', 1)]);
    const trust = (name: string, by: TestAuthority): Resource => {
      const caBundles = [{ type: 'Pem', pem: { value: by.certificate } }];
      return sketch('MeshTrust', name, { trustDomain: `default.${name}.mesh.local`, caBundles }, { zone: '' });
    };
    const flood = await listen((socket) => {
      for (let sent = 0; sent < FLOOD; sent += PIECE.length) socket.write(PIECE);
      socket.end();
      flooding = { socket, server: servers[0] as Server };
    });
    const silent = await listen(() => undefined);
    const breaks = await listen((socket) => {
      socket.write('half of an ans', () => setTimeout(() => socket.resetAndDestroy(), 50));
    });
    const quiet = createServer({ allowHalfOpen: true }, (socket) => {
      waiting = socket.on('error', () => undefined).resume();
    });
    servers.push(quiet);
    await once(quiet.listen(0, '127.0.0.1'), 'listening');
    const quietAt = quiet.address();
    const app = await echo('app');
    // Two servers that are not who they should be, where a proxy would be.
    const strangers = await (await TestAuthority.create('strangers')).issue({ uri: idOf('server') });
    const poser = await east.issue({ uri: idOf('server') });
    const tls = ({ chain, key }: TestCertificate) => ({
      cert: chain,
      key,
      requestCert: true,
      rejectUnauthorized: false,
    });
    const stranger = await tlsEcho('stranger', tls(strangers), host(102), PORT);
    const foreign = await tlsEcho('foreign', tls(poser), host(103), PORT);
    const dead = await echo('dead', host(105));
    processes.push(app, stranger, foreign);
    zone.put(
      trust('west', authority),
      trust('east', east),
      service('echo'),
      service('flood'),
      service('stranger'),
      service('foreign'),
      service('silent'),
      service('breaks'),
      service('pair'),
      service('quiet'),
      dataplane('server', SERVER, [
        { port: PORT, servicePort: app.port, name: 'echo', tags: { app: 'echo' } },
        { port: PORT + 1, servicePort: flood, name: 'flood', tags: { app: 'flood' } },
        { port: PORT + 2, servicePort: breaks, name: 'breaks', tags: { app: 'breaks' } },
        {
          port: PORT + 4,
          servicePort: typeof quietAt === 'object' ? quietAt?.port : 0,
          name: 'quiet',
          tags: { app: 'quiet' },
        },
        { port: PORT + 3, servicePort: app.port, name: 'pair', tags: { app: 'pair' } },
      ]),
      dataplane('stranger', host(102), [{ port: PORT, name: 'stranger', tags: { app: 'stranger' } }]),
      dataplane('foreign', host(103), [{ port: PORT, name: 'foreign', tags: { app: 'foreign' } }]),
      dataplane('silent', '127.0.0.1', [{ port: silent, servicePort: 1, name: 'silent', tags: { app: 'silent' } }]),
      dataplane('dead', host(105), [{ port: dead.port, servicePort: 1, name: 'pair', tags: { app: 'pair' } }]),
    );
    await dead.stop();
    const listed = 'all' as const;
    server = await plane('server', { dataplane: dataplane('server', SERVER, []).id });
    client = await plane('client', { listed, capture: { type: 'bind' } });
    ingress = await plane('ingress', { ingress: INGRESS });
    // Both wait as long as their clients do; meanwhile other connections are served.
    hanging = closed(connect(PORT, vip('silent')));
    const slow = connect(PORT, SERVER, () => slow.write(Buffer.from([22, 3, 1, 1, 0, 1, 0])));
    held = closed(slow);
  });
  afterAll(async () => {
    await Promise.all([client?.stop(), server?.stop(), ingress?.stop()]);
    for (const each of servers) each.close();
    await Promise.all(processes.map((one) => one.stop()));
  });

  const failures = (app: App, counter: string): Promise<number> =>
    client?.stat(`cluster.kri_msvc_default_west__${app}_${PORT}.${counter}`) ?? Promise.resolve(0);

  it.each<[string, App, string]>([
    ['of an authority that nobody believes', 'stranger', 'ssl.fail_verify_error'],
    ['with an id of another domain than its authority’s', 'foreign', 'ssl.fail_verify_error'],
  ])('gives nothing to a server %s, and counts it', async (_, app, counter) => {
    expect(await say(vip(app), PORT)).toBe('');
    expect(await failures(app, counter)).toBeGreaterThan(0);
  });

  it('gives nothing to a server with another id than the service has, and everything when it is the one', async () => {
    zone.put(service('echo', 'somebody'));
    await client?.refresh();
    const before = processes[0]?.accepted();
    expect(await say(vip('echo'), PORT)).toBe('');
    expect(await failures('echo', 'ssl.fail_verify_san')).toBeGreaterThan(0);
    expect(processes[0]?.accepted()).toBe(before);
    zone.put(service('echo'));
    await client?.refresh();
    await until('an answer', async () => (await say(vip('echo'), PORT)) === 'app:hello');
  });

  it('refuses an address that nobody has at once', async () => {
    const [error] = (await once(connect(PORT, host(77)), 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
  });

  it('leaves bytes where they are until their reader takes them, and then passes on all', async () => {
    const socket = connect(PORT, vip('flood')).pause();
    await once(socket, 'connect');
    await until('the server', () => flooding !== undefined);
    const waiting = (): number => flooding?.socket.writableLength ?? 0;
    // Bytes that were accepted stand in buffers of the kernel and of both proxies.
    let [before, same] = [-1, 0];
    await until('nothing moves', () => {
      same = waiting() === before ? same + 1 : 0;
      before = waiting();
      return same >= 12;
    });
    expect(waiting()).toBeGreaterThan(FLOOD / 4);
    let bytes = 0;
    socket.on('data', (piece: Buffer) => (bytes += piece.length)).resume();
    await once(socket, 'end');
    expect(bytes).toBe(FLOOD);
    socket.destroy();
  });

  it('passes on a reset as a reset: half of an answer does not look like a whole one', async () => {
    const socket = connect(PORT, vip('breaks'));
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNRESET');
  });

  it('serves 600 connections at once, more than Node queues by default, and is left with none', async () => {
    const sockets = Array.from({ length: 600 }, () => connect(PORT, vip('echo')));
    const answers = await Promise.all(
      sockets.map(async (socket, i) => {
        socket.on('error', () => undefined).write(`${i}`);
        const [answer] = (await once(socket, 'data')) as [Buffer];
        return answer.toString();
      }),
    );
    expect(answers).toEqual(sockets.map((_, i) => `app:${i}`));
    for (const socket of sockets) socket.destroy();
    for (const [one, name] of [
      [client, `listener.${vip('echo')}_${PORT}`],
      [server, `listener.${SERVER}_${PORT}`],
    ] as const)
      await until('no connection', async () => ((await one?.stat(`${name}.downstream_cx_active`)) ?? 1) <= 1);
  });

  it('closes and counts garbage, in TLS and where TLS should be', async () => {
    const counter = `listener.${SERVER}_${PORT}.ssl.connection_error`;
    const before = (await server?.stat(counter)) ?? 0;
    for (const bytes of [randomBytes(4_000), Buffer.concat([Buffer.from([22, 3, 1, 0, 200]), randomBytes(200)])]) {
      const socket = connect(PORT, SERVER, () => socket.write(bytes));
      await closed(socket);
    }
    expect(await server?.stat(counter)).toBeGreaterThan(before);
    expect(await say(vip('echo'), PORT)).toBe('app:hello');
  });

  it('resumes no session: a certificate is looked at each time', async () => {
    const { chain: cert, key } = await authority.issue({ uri: idOf('caller') });
    const open = async (session?: Buffer): Promise<readonly [TLSSocket, Buffer | undefined]> => {
      const at = { host: SERVER, port: PORT, cert, key, rejectUnauthorized: false, ...(session && { session }) };
      const socket = connectTls(at).on('error', () => undefined);
      let given: Buffer | undefined;
      socket.on('session', (each) => (given = each));
      await once(socket, 'secureConnect');
      socket.write('x');
      await once(socket, 'data');
      return [socket, given ?? socket.getSession()];
    };
    const [first, session] = await open();
    first.destroy();
    const [second] = await open(session);
    expect(second.isSessionReused()).toBe(false);
    second.destroy();
  });

  it('a new certificate is for new connections, and open ones stay', async () => {
    const socket = connect(PORT, vip('echo'), () => socket.write('before'));
    await once(socket, 'data');
    const serial = async (): Promise<string> => {
      const { chain: cert, key } = await authority.issue({ uri: idOf('caller') });
      const tls = connectTls({ host: SERVER, port: PORT, cert, key, rejectUnauthorized: false });
      await once(tls, 'secureConnect');
      const { fingerprint256 } = tls.getPeerCertificate();
      tls.on('error', () => undefined).destroy();
      return fingerprint256;
    };
    const before = await serial();
    identities.set('server', await authority.issue({ uri: idOf('server') }));
    identities.set('client', await authority.issue({ uri: idOf('client') }));
    for (const one of [server, client]) {
      if (one) one.resources.view = { ...one.resources.view };
      await one?.refresh();
    }
    expect(await serial()).not.toBe(before);
    expect(await say(vip('echo'), PORT)).toBe('app:hello');
    socket.write('after');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toBe('app:after');
    socket.destroy();
  });

  it('believes a chain with an authority in between, on both sides, and none that ends at another trust domain', async () => {
    const [issuer, foreign] = await Promise.all([authority.between('issuer'), east.between('issuer')]);
    /** Returns the answer to a caller with this certificate; undefined if the connection is closed. */
    const call = async ({ chain: cert, key }: TestCertificate): Promise<string | undefined> => {
      const tls = connectTls({ host: SERVER, port: PORT, cert, key, rejectUnauthorized: false });
      tls.write('hello');
      const first = await new Promise<string | undefined>((resolve) => {
        tls.on('error', () => undefined).on('close', () => resolve(undefined));
        tls.on('data', (text: Buffer) => resolve(text.toString()));
      });
      tls.destroy();
      return first;
    };
    const counter = `listener.${SERVER}_${PORT}.ssl.fail_verify_error`;
    const before = (await server?.stat(counter)) ?? 0;
    // A Node version that hides the issuer of such a certificate leaves no authority to trust.
    const isShown = await showsPeerChains();
    expect(await call(await issuer.issue({ uri: idOf('caller') }))).toBe(isShown ? 'app:hello' : undefined);
    expect(await call(await foreign.issue({ uri: idOf('caller') }))).toBeUndefined();
    expect(await server?.stat(counter)).toBe(before + (isShown ? 1 : 2));
    identities.set('server', await issuer.issue({ uri: idOf('server') }));
    if (server) server.resources.view = { ...server.resources.view };
    await server?.refresh();
    expect(await say(vip('echo'), PORT)).toBe('app:hello');
    identities.set('server', await foreign.issue({ uri: idOf('server') }));
    if (server) server.resources.view = { ...server.resources.view };
    await server?.refresh();
    expect(await say(vip('echo'), PORT)).toBe('');
    identities.set('server', await authority.issue({ uri: idOf('server') }));
    if (server) server.resources.view = { ...server.resources.view };
    await server?.refresh();
    expect(await say(vip('echo'), PORT)).toBe('app:hello');
  });

  it('tries another endpoint where one does not answer: no connection fails, and the dead one is left out', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => say(vip('pair'), PORT)));
    expect(new Set(answers)).toEqual(new Set(['app:hello']));
    expect(await failures('pair', 'outlier_detection.ejections_enforced_total')).toBeGreaterThan(0);
  });

  it('the ingress passes on what names a service, and dials nothing for anything else', async () => {
    const { chain: cert, key } = await authority.issue({ uri: idOf('caller') });
    const enter = async (servername: string): Promise<string> => {
      const socket = connectTls({
        host: INGRESS.address,
        port: INGRESS.port,
        servername,
        cert,
        key,
        rejectUnauthorized: false,
      });
      const answer = new Promise<string>((resolve) => {
        socket.on('data', (piece: Buffer) => resolve(piece.toString()));
        socket.on('error', () => resolve('')).on('close', () => resolve(''));
      });
      socket.on('secureConnect', () => socket.write('hello'));
      const text = await answer;
      socket.destroy();
      return text;
    };
    expect(await enter(sni('echo'))).toBe('app:hello');
    expect(await enter(sni('echo').toUpperCase())).toBe('app:hello');
    const accepted = processes[0]?.accepted();
    const names = ['nobody.example', `local:kri_msvc_default_west__echo_${PORT}`, 'identity'];
    expect(await Promise.all(names.map(enter))).toEqual(['', '', '']);
    expect(await say(INGRESS.address, INGRESS.port, 'GET / HTTP/1.1\r\n\r\n')).toBe('');
    expect(processes[0]?.accepted()).toBe(accepted);
    expect(await ingress?.stat('tcp.ingress.downstream_cx_no_route')).toBe(3);
  });

  it('has a bound of connections; what is beyond it is closed and counted', async () => {
    const few = await plane('few', { listed: new Set([`kri_msvc_default_west__bounded_${PORT}`]), capture: { type: 'bind' } }, { maxConnections: 3 }); // prettier-ignore
    const { spec } = service('echo');
    zone.put(sketch('MeshService', 'bounded', spec, { status: { vip: { ip: host(60) } } }));
    await few.refresh();
    const sockets = Array.from({ length: 5 }, () => connect(PORT, host(60)).on('error', () => undefined));
    const answered = await Promise.all(
      sockets.map((socket) => {
        socket.write('x');
        return new Promise<boolean>((done) => socket.once('data', () => done(true)).once('close', () => done(false)));
      }),
    );
    expect(answered.filter((each) => each)).toHaveLength(3);
    expect(await few.stat(`listener.${host(60)}_${PORT}.downstream_global_cx_overflow`)).toBe(2);
    for (const socket of sockets) socket.destroy();
    await few.stop();
  });

  it('drains: takes no new connections, and waits for those that are open', async () => {
    const drained = await plane('drained', { listed: new Set([`kri_msvc_default_west__drained_${PORT}`]), capture: { type: 'bind' } }); // prettier-ignore
    const { spec } = service('echo');
    zone.put(sketch('MeshService', 'drained', spec, { status: { vip: { ip: host(61) } } }));
    await drained.refresh();
    const socket = connect(PORT, host(61), () => socket.write('before'));
    await once(socket, 'data');
    const stopped = drained.plane.stop({ drainMs: 60_000 });
    await until('no new ones', async () => (await say(host(61), PORT)) === '');
    socket.write('after');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toBe('app:after');
    expect(drained.plane.state.type).toBe('draining');
    socket.end();
    await stopped;
    expect(drained.plane.state.type).toBe('stopped');
  });

  it('ends connections of which one direction has ended', async () => {
    const halves = await plane('halves', {
      listed: new Set([`kri_msvc_default_west__halves_${PORT}`]),
      capture: { type: 'bind' },
    });
    zone.put(sketch('MeshService', 'halves', service('quiet').spec, { status: { vip: { ip: host(63) } } }));
    await halves.refresh();
    const socket = connect({ port: PORT, host: host(63), allowHalfOpen: true }).on('error', () => undefined);
    socket.end('last words');
    const active = (): Promise<number> =>
      server?.stat(`listener.${SERVER}_${PORT + 4}.downstream_cx_active`) ?? Promise.resolve(0);
    await until('the server', async () => (await active()) === 1);
    await until('the last words', () => waiting?.readableEnded === true);
    const ended = closed(socket);
    await halves.stop();
    await ended;
    // The server's proxy learns only from the next bytes that nobody reads any more.
    await until('nobody', async () => {
      waiting?.write('late');
      return (await active()) === 0;
    });
  });

  it('says which listener it cannot open, and opens it when it can', async () => {
    const taken = await echo('somebody', host(62), PORT);
    const { spec } = service('echo');
    zone.put(sketch('MeshService', 'taken', spec, { status: { vip: { ip: host(62) } } }));
    const one = await plane('taken', { capture: { type: 'bind' } });
    one.resources.view = { ...one.resources.view, listed: new Set([`kri_msvc_default_west__taken_${PORT}`]) };
    expect(await one.refresh()).toEqual([expect.stringContaining(`outbound:${host(62)}:${PORT}: `)]);
    await taken.stop();
    await until('its own answer', async () => (await say(host(62), PORT)) === 'app:hello');
    await one.stop();
  });

  it('a peer that says nothing in its handshake is left, by a server and by a client', async () => {
    await Promise.all([hanging, held]);
    expect(await failures('silent', 'upstream_cx_connect_timeout')).toBeGreaterThan(0);
  });
});
