import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { ADMIN_HEADERS } from '../../support/admin-credential';
import type { Arena, Attack } from '../target';
import { JSON_TYPE, noted, TIMEOUT, type Blow } from './rest-blows';
import { hostileJson, hostileYaml, SERVICE } from './rest-bodies';

/** Headers of a request of an administrator: the attacked code runs after authentication. */
const HEAD = `Host: localhost\r\nAuthorization: ${ADMIN_HEADERS.authorization}\r\n`;

/** Attacks on REST: by a faulty program of an administrator, and by anybody on the host or behind an agent or a proxy on it. */
export function restAttacks(): readonly Attack[] {
  return [
    { name: 'hostile JSON', pause: 100, strike: (arena, turn) => each(arena, 'hostile JSON', hostileJson(turn)) },
    { name: 'hostile YAML', pause: 100, strike: (arena, turn) => each(arena, 'hostile YAML', hostileYaml(turn)) },
    { name: 'odd paths and queries', pause: 200, strike: oddPaths },
    { name: WITHOUT_CREDENTIALS, pause: 500, strike: withoutCredentials },
    { name: 'watches that never read', pause: 1_000, strike: silentWatches },
    { name: 'large services under watches', pause: 500, strike: largeServices },
    { name: 'slow requests', pause: 1_000, strike: slowRequests },
    { name: 'lists of everything', pause: 50, strike: lists },
  ];
}

async function each(arena: Arena, name: string, blows: readonly Blow[]): Promise<void> {
  const bases = Object.values(arena.target.rest);
  await Promise.all(bases.flatMap((base) => blows.map((blow) => noted(arena, name, { base, ...blow }))));
}

/** Sends over a plain socket what Node's client would refuse to send. */
function raw(base: string, text: string): Promise<number> {
  return new Promise((resolve) => {
    const socket = connected(base);
    socket.write(text);
    let answer = '';
    socket.setTimeout(TIMEOUT, () => socket.destroy());
    socket.on('data', (bytes: Buffer) => (answer += bytes.toString('latin1')));
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)));
  });
}

function connected(base = ''): Socket {
  const { hostname, port } = new URL(base);
  return connect(Number(port), hostname).on('error', () => undefined);
}

const ODD_NAMES = [
  '%00',
  '%01',
  '%0a',
  '%ff',
  '%zz',
  '..%2f..',
  'a'.repeat(15_000),
  '%E2%80%A8',
  'x?since=%00',
  'x?zone=%7f',
  'x?filter[labels.%00]=a',
  'x?namespace=%01',
  `x?labelSelector=${'a%20in%20('.repeat(1_000)}`,
  `x?${'a=1&'.repeat(3_000)}`,
];

async function oddPaths(arena: Arena): Promise<void> {
  for (const base of Object.values(arena.target.rest)) {
    for (const name of ODD_NAMES) {
      for (const method of ['GET', 'DELETE', 'PUT']) {
        const line = `${method} /meshes/default/meshservices/${name} HTTP/1.1\r\n`;
        const status = await raw(base, `${line}${HEAD}Connection: close\r\nContent-Length: 0\r\n\r\n`);
        arena.tally.status('odd paths and queries', status);
        if (status === 500)
          arena.tally.note('BREACH', `an odd path was a failure of ours: ${method} ${name.slice(0, 20)}`);
      }
    }
  }
}

const WITHOUT_CREDENTIALS = 'writes without credentials';

/**
 * Attacks REST over loopback without credentials, as a program of this host, a foreign page whose name points here, or a client whose request an
 * agent or a proxy passes on. All of their writes must be refused.
 */
async function withoutCredentials(arena: Arena, turn: number): Promise<void> {
  const foreign: readonly Readonly<Record<string, string>>[] = [
    {},
    { host: '127.0.0.1' },
    { host: 'evil.example', origin: 'http://evil.example' },
    { host: 'localhost', origin: 'http://evil.example' },
    { host: 'localhost', 'sec-fetch-site': 'cross-site' },
    { host: 'localhost', 'x-forwarded-for': '203.0.113.7' },
  ];
  const key = { type: 'GlobalSecret', name: 'zone-token-signing-key-99', spec: { data: 'eA==' } };
  const zone = { type: 'Zone', name: 'x', spec: { auth: 'none' } };
  const service = { type: 'MeshService', mesh: 'default', name: 'foreign', spec: { ports: [{ port: 80 }] } };
  const subjects = [{ kind: 'Group', name: 'causeway:anonymous' }];
  const binding = { type: 'RoleBinding', name: 'foreign', spec: { role: 'admin', subjects } };
  const headers = { ...JSON_TYPE, ...foreign[turn % foreign.length] };
  const name = WITHOUT_CREDENTIALS;
  for (const [plane, base] of Object.entries(arena.target.rest)) {
    const put = (path: string, body: unknown): Blow => ({ method: 'PUT', path, headers, body: JSON.stringify(body) });
    const blows =
      plane === 'global'
        ? [put(`/globalsecrets/${key.name}`, key), put('/zones/x', zone), put('/rolebindings/foreign', binding)]
        : [put('/meshes/default/meshservices/foreign', service), put('/rolebindings/foreign', binding)];
    for (const blow of blows) {
      const status = await noted(arena, name, { base, isAnonymous: true, ...blow });
      if (status >= 200 && status < 300) arena.tally.note('BREACH', 'somebody without credentials wrote');
    }
  }
}

async function silentWatches(arena: Arena): Promise<void> {
  const bases = Object.values(arena.target.rest);
  const sockets: Socket[] = [];
  for (let n = 0; n < 400; n++) {
    const socket = connected(bases[n % bases.length]).pause();
    socket.write(`GET /meshes/default/meshservices?watch=true HTTP/1.1\r\n${HEAD}\r\n`);
    sockets.push(socket);
    if (n % 50 === 0) await pause(10);
  }
  await Promise.race([pause(15_000), aborted(arena.stop)]);
  const gone = sockets.filter((socket) => socket.destroyed || socket.readyState !== 'open').length;
  arena.tally.note('watches that never read', gone > 0 ? 'some were ended' : 'all stay open');
  for (const socket of sockets) socket.destroy();
}

/** Services with many labels and ports, changed again and again while others watch. */
async function largeServices(arena: Arena, turn: number): Promise<void> {
  const labels = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`l${i}`, 'x'.repeat(60)]));
  const ports = Array.from({ length: 50 }, (_, i) => ({ port: i + 1, name: `p${i}-${turn}` }));
  const spec = { selector: { dataplaneTags: { app: `x${turn}` } }, ports };
  const bases = Object.entries(arena.target.rest).flatMap(([plane, base]) => (plane === 'global' ? [] : [base]));
  await Promise.all(
    bases.flatMap((base) =>
      Array.from({ length: 10 }, (_, i) => {
        const body = JSON.stringify({ type: 'MeshService', mesh: 'default', name: `large-${i}`, labels, spec });
        const put = { method: 'PUT', path: `/meshes/default/meshservices/large-${i}`, headers: JSON_TYPE, body };
        return noted(arena, 'large services under watches', { base, ...put });
      }),
    ),
  );
}

/** Requests that never get done: heads and bodies an octet at a time. */
async function slowRequests(arena: Arena): Promise<void> {
  const bases = Object.values(arena.target.rest);
  const head = `GET / HTTP/1.1\r\n${HEAD}`;
  const body = `PUT ${SERVICE} HTTP/1.1\r\n${HEAD}Content-Length: 100000\r\n\r\n`;
  const sockets = Array.from({ length: 300 }, (_, n) => {
    const socket = connected(bases[n % bases.length]);
    socket.write(n % 2 === 0 ? head : body);
    return socket;
  });
  for (let second = 0; second < 10 && !arena.stop.aborted; second++) {
    for (const socket of sockets) if (socket.writable) socket.write('x');
    await pause(1_000);
  }
  arena.tally.note('slow requests', sockets.some((socket) => socket.destroyed) ? 'some were ended' : 'all stay open');
  for (const socket of sockets) socket.destroy();
}

async function lists(arena: Arena): Promise<void> {
  const requirement = (_: unknown, i: number): string => `k${i} notin (${'a,'.repeat(20)}b)`;
  const selector = encodeURIComponent(Array.from({ length: 20 }, requirement).join(','));
  const paths = [
    '/meshservices?size=1000',
    `/meshservices?size=1000&labelSelector=${selector}`,
    '/_resources',
    '/openapi.json',
    '/meshes/default/hostnames',
  ];
  await each(
    arena,
    'lists of everything',
    paths.map((path) => ({ path })),
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
