import { request as httpRequest } from 'node:http';
import { coreKinds } from '@causeway/kinds';
import type { ControlPlane, JsonObject, Kind } from '@causeway/resources';
import type { RegisteredRoute } from '@causeway/rest/testing';
import { plainTokens } from '../support/rest-access';
import { restFixture, ZONE_EAST, type RestFixture } from './rest-fixture';
import {
  openAgentLeases,
  openAuthorityAccess,
  openDataplaneAccess,
  openSyncDecisions,
  openUserAccess,
  openWorkloadAccess,
  openZoneAccess,
} from './open-zone-access';

const SAFE = ['GET', 'HEAD', 'OPTIONS'] as const;
const METHODS = [...SAFE, 'PUT', 'PATCH', 'DELETE', 'POST'] as const;

const HOSTILE: readonly (readonly [string, Record<string, string>])[] = [
  ['a name that points here', { host: 'evil.example' }],
  ['a page of another origin', { origin: 'https://evil.example' }],
  ['a page of another site', { 'sec-fetch-site': 'cross-site' }],
  ['a proxy', { 'x-forwarded-for': '10.0.0.1' }],
  ['a proxy that says nothing but its name', { via: '1.1 proxy' }],
];

/** Headers with which an agent or a proxy on this host forwards the requests of others; a request without any is the caller `nobody`. */
const LOCAL_NAMES: readonly (readonly [string, Record<string, string>])[] = [
  ['the name of this machine', { host: 'localhost' }],
  ['the address of this machine', { host: '127.0.0.1' }],
  ['its own page', { host: 'localhost', origin: 'http://localhost', 'sec-fetch-site': 'same-origin' }],
];

/** Callers by their tokens; `owner` is a service-owner of the namespace `payments`. */
const CALLERS = {
  nobody: undefined,
  stranger: 'stranger:',
  viewer: 'viewer:',
  owner: 'owner:',
  operator: 'operator:',
  admin: 'admin:causeway:admins',
} as const;
type CallerName = keyof typeof CALLERS;

const BINDINGS: Readonly<Record<string, JsonObject>> = {
  viewer: { role: 'viewer', subjects: [{ kind: 'User', name: 'viewer' }] },
  owner: { role: 'service-owner', subjects: [{ kind: 'User', name: 'owner' }], namespaces: ['payments'] },
  operator: { role: 'mesh-operator', subjects: [{ kind: 'User', name: 'operator' }] },
};

const EVERYBODY = Object.keys(CALLERS);
const RECOGNISED = ['viewer', 'owner', 'operator', 'admin'];
const READERS = ['viewer', 'operator', 'admin'];
const OPERATORS = ['operator', 'admin'];

/** Callers of the routes without a kind in the path: every route must be here. */
const ROUTES: Readonly<Record<string, readonly string[]>> = {
  '/': EVERYBODY,
  '/openapi.json': EVERYBODY,
  '/docs': EVERYBODY,
  '/who-am-i': EVERYBODY,
  '/kds/ca': EVERYBODY,
  '/rest/ca': EVERYBODY,
  '/_resources': RECOGNISED,
  '/_access': EVERYBODY,
  '/_apply': RECOGNISED,
  '/config': OPERATORS,
  '/_doctor': OPERATORS,
  '/_audit': ['admin'],
  '/_backup': ['admin'],
  '/_proxies': RECOGNISED,
  '/_proxies/:mesh/:name': READERS,
  '/_leases': READERS,
  '/_leases/release': OPERATORS,
  '/_dns/lookup': READERS,
  '/discovery/prometheus': RECOGNISED,
  '/discovery/hosts': READERS,
  '/_explain/hostname': RECOGNISED,
  '/_resolve/hostname': RECOGNISED,
  '/meshes/:mesh/_explain': RECOGNISED,
  '/meshes/:mesh/_routes': RECOGNISED,
  '/meshes/:name/_policies': READERS,
  '/meshes/:mesh/_virtual/:group/:kind/:name/_policies': READERS,
  '/meshes/:mesh/topology': READERS,
  '/_kri/:kri': ['admin'],
  '/zones+insights': READERS,
  '/zones/_overview': READERS,
  '/zones+insights/:name': READERS,
  '/zones/:name/_overview': READERS,
  '/dataplanes+insights': READERS,
  '/dataplanes/_overview': READERS,
  '/meshes/:mesh/dataplanes+insights': READERS,
  '/meshes/:mesh/dataplanes/_overview': READERS,
  '/meshes/:mesh/dataplanes+insights/:name': READERS,
  '/meshes/:mesh/dataplanes/:name/_overview': READERS,
  '/meshes/:mesh/meshservices/:name/_dataplanes': READERS,
  '/meshes/:mesh/meshservices/:name/_resources/dataplanes': READERS,
  '/meshes/:mesh/hostnames': READERS,
  '/tokens/zone': ['admin'],
  '/tokens/zone/revocations': ['admin'],
  '/tokens/zone/keys': ['admin'],
  '/tokens/zone/invites': ['admin'],
  '/tokens/zone/invites/revocations': ['admin'],
  '/tokens/zone/invites/redemptions': EVERYBODY,
  '/tokens/user': ['admin'],
  '/tokens/user/revocations': ['admin'],
  '/tokens/user/keys': ['admin'],
  '/tokens/dataplane': OPERATORS,
  '/tokens/dataplane/revocations': OPERATORS,
  '/tokens/dataplane/keys': OPERATORS,
  '/_workloads': RECOGNISED,
  '/_workloads/revocations': OPERATORS,
  '/_workloads/confirmations': OPERATORS,
  '/_ca': OPERATORS,
  '/_ca/rotation': OPERATORS,
  '/zones/:name/_confirm': OPERATORS,
  '/zones/:name/_adopt': OPERATORS,
  '/zones/:name/_reset-epoch': OPERATORS,
  '/global/_confirm': OPERATORS,
};

const WITH_HOSTNAMES = ['MeshService', 'MeshMultiZoneService', 'MeshExternalService'];

interface Call {
  readonly method: (typeof METHODS)[number];
  /** The path of its route, and the query. */
  readonly route: string;
  readonly url: string;
  readonly open: readonly string[];
}

function isSafe(method: string): boolean {
  return SAFE.some((safe) => safe === method);
}

/** Returns the callers of a route of a kind, with a namespace in the query or without. */
function openOfKind(
  { confidential, writer, namespaced }: Kind,
  method: string,
  inNamespace: boolean,
): readonly string[] {
  if (confidential) return ['admin'];
  const owners = writer === 'owner' && namespaced && inNamespace ? ['owner'] : [];
  if (isSafe(method)) return [...READERS, ...owners];
  return writer === 'admin' ? ['admin'] : writer === 'owner' ? [...OPERATORS, ...owners] : OPERATORS;
}

/** Returns every route with every method, for every kind if it has one, and with a namespace if the kind has namespaces. */
function everyCall(routes: readonly RegisteredRoute[]): readonly Call[] {
  return routes.flatMap(({ path, methods }) => {
    const served = METHODS.filter((method) => method === 'OPTIONS' || methods.includes(method));
    const at = path.replace(':mesh', 'default').replace(':kri', 'kri_sec_default_east__key_').replace(':name', 'x');
    const call = (method: Call['method'], url: string, open: readonly string[]): Call => ({
      method,
      route: [path, ...url.split('?').slice(1)].join('?'),
      url,
      open: method === 'OPTIONS' ? EVERYBODY : open,
    });
    if (!path.includes(':plural')) {
      const open = ROUTES[path];
      if (!open) throw new Error(`${path} is missing in the table of routes`);
      return served.map((method) => call(method, at, open));
    }
    const scope = path.startsWith('/meshes/:mesh') ? 'mesh' : 'global';
    const isList = path === '/:plural';
    const kinds = coreKinds.kinds.filter((kind) => isList || kind.scope === scope);
    return kinds.flatMap((kind) => {
      const url = at.replace(':plural', kind.plural);
      // Any caller with a right learns that a kind has no hostnames: 404.
      if (path.endsWith('/_hostnames') && !WITH_HOSTNAMES.includes(kind.name))
        return served.map((method) => call(method, url, RECOGNISED));
      // Malformed requests, and those of a kind that is no policy, get 400 or 404 from any caller with a right.
      if (path.endsWith('/_impact')) return served.map((method) => call(method, url, RECOGNISED));
      const places = kind.namespaced ? ['', '?namespace=payments'] : [''];
      return places.flatMap((place) =>
        served.map((method) => call(method, url + place, openOfKind(kind, method, place !== ''))),
      );
    });
  });
}

/** One call of every route, method and row of rights: kinds that are open to the same callers are one to the guard. */
function oneOfEachRight(calls: readonly Call[]): readonly Call[] {
  return [...new Map(calls.map((call) => [[call.method, call.route, ...call.open].join(' '), call])).values()];
}

/** Whether the answer matches the table: a caller with the right may still get the answer that the resource is written elsewhere. */
async function isRight(
  rest: RestFixture,
  { method, url, open }: Call,
  caller: CallerName,
  headers: Record<string, string>,
): Promise<boolean> {
  const payload = url.endsWith('/hostname') ? { hostname: 'a.mesh', mesh: 'default' } : {};
  const sent = isSafe(method) ? { headers } : { headers, payload };
  const { statusCode, body } = await rest.server.inject({ method, url, ...sent });
  if (!open.includes(caller)) return statusCode === (caller === 'nobody' ? 401 : 403);
  if (statusCode === 401 || (statusCode === 403 && method === 'HEAD')) return false;
  // An answer may quote what others were refused: the audit log does.
  return statusCode < 400 || !/no RoleBinding|only administrators may do this/.test(body);
}

interface OpenServer {
  readonly rest: RestFixture;
  /** Every call of its routes. */
  readonly calls: readonly Call[];
}

const STRICT = { open: false, operatorToken: 'secret', verifiers: [plainTokens] };

/** Starts a server with all its routes, and with callers that have each role. */
async function openServer(cp: ControlPlane): Promise<OpenServer> {
  const rest = await restFixture({
    cp,
    access: STRICT,
    zoneAccess: openZoneAccess,
    userAccess: openUserAccess,
    syncDecisions: openSyncDecisions,
    ...(cp.role === 'global'
      ? {}
      : {
          dataplaneAccess: openDataplaneAccess,
          workloadAccess: openWorkloadAccess,
          authorityAccess: openAuthorityAccess,
          agentLeases: openAgentLeases,
        }),
  });
  const seeds = Object.entries(BINDINGS).map(([name, spec]) => ({
    id: { kind: 'RoleBinding', mesh: '', zone: '', namespace: '', name },
    spec,
  }));
  await rest.seed(...seeds);
  return { rest, calls: everyCall(rest.server.routes()) };
}

/** The calls whose answer is not that of the table for a caller. */
async function wrongFor(
  { rest, calls }: OpenServer,
  caller: CallerName,
  headers: Record<string, string> = {},
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const call of calls) {
    if (!(await isRight(rest, call, caller, headers))) wrong.push(`${call.method} ${call.url}`);
  }
  return wrong;
}

describe('every route with every method', () => {
  // The same caller can write and delete a resource, since every path has one name.
  describe.each<[string, ControlPlane]>([
    ['a zone', ZONE_EAST],
    ['a global', { role: 'global' }],
  ])('of %s', (_, cp) => {
    let server: OpenServer;
    beforeAll(async () => {
      server = await openServer(cp);
    });
    afterAll(() => server.rest.close());

    it.each(Object.entries(CALLERS))('is open to %s as the table says', async (caller, token) => {
      expect(server.calls.length).toBeGreaterThan(100);
      const name = caller as CallerName;
      expect(await wrongFor(server, name, token === undefined ? {} : { authorization: `Bearer ${token}` })).toEqual([]);
    });
  });

  describe('of a zone, by whatever name and way,', () => {
    let server: OpenServer;
    beforeAll(async () => {
      const { rest, calls } = await openServer(ZONE_EAST);
      server = { rest, calls: oneOfEachRight(calls) };
    });
    afterAll(() => server.rest.close());

    it.each([...LOCAL_NAMES, ...HOSTILE])('takes %s for nobody', async (_name, headers) => {
      expect(await wrongFor(server, 'nobody', headers)).toEqual([]);
    });

    it('is open to the operator', async () => {
      const headers = Object.assign({ authorization: 'Bearer secret' }, ...HOSTILE.map(([, hostile]) => hostile));
      expect(await wrongFor(server, 'admin', headers)).toEqual([]);
    });
  });
});

describe('a request without credentials', () => {
  let rest: RestFixture;
  let port: number;
  beforeAll(async () => {
    rest = await restFixture({ cp: { role: 'global' }, access: { open: false, operatorToken: 'secret' } });
    port = await rest.server.listen('127.0.0.1', 0);
  });
  afterAll(() => rest.close());

  it.each([
    ['a signing key', '/globalsecrets/zone-token-signing-key-99', { type: 'GlobalSecret', spec: { data: 'a2V5' } }],
    ['a zone without authentication', '/zones/x', { type: 'Zone', spec: { auth: 'none' } }],
    ['a mesh', '/meshes/x', { type: 'Mesh', spec: {} }],
  ])('cannot write %s over a real connection from this machine', async (_, path, body) => {
    const payload = JSON.stringify({ ...body, name: path.split('/').at(-1) });
    const put = (headers: Record<string, string>): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const head = { 'content-type': 'application/json', ...headers };
        const sent = httpRequest({ port, host: '127.0.0.1', method: 'PUT', path, headers: head }, (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode));
        });
        sent.on('error', reject).end(payload);
      });
    const evil = `evil.example:${port}`;
    expect(await put({ host: evil, origin: `http://${evil}`, 'sec-fetch-site': 'same-origin' })).toBe(401);
    expect(await put({ host: evil })).toBe(401);
    for (const host of ['localhost', '127.0.0.1', '[::1]']) expect(await put({ host: `${host}:${port}` })).toBe(401);
    expect(await put({ host: evil, authorization: 'Bearer secret' })).toBe(201);
  });
});

describe('control characters', () => {
  let rest: RestFixture;
  beforeAll(async () => {
    rest = await restFixture();
  });
  afterAll(() => rest.close());

  const BYTES = ['%00', '%01', '%0a', '%0D', '%1f', '%7F'];
  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'POST', 'OPTIONS'] as const)(
    'in a path or a query are 400 for %s',
    async (method) => {
      for (const byte of BYTES) {
        const urls = [
          `/meshes/default/meshservices/a${byte}b`,
          `/meshes/a${byte}/meshservices/b`,
          `/meshes/default/meshservices/a?namespace=a${byte}b`,
          `/meshes/default/meshservices/a?zone=${byte}`,
          `/${byte}`,
        ];
        for (const url of urls) {
          const answer = await rest.server.inject({ method, url, ...(method === 'PUT' ? { payload: {} } : {}) });
          expect([url, answer.statusCode]).toEqual([url, 400]);
        }
      }
    },
  );

  it('are told by the part that has them', async () => {
    const detail = async (url: string): Promise<string> => (await rest.server.inject({ url })).json().detail;
    expect(await detail('/meshservices/%00')).toBe('The path of this request has a control character.');
    expect(await detail('/meshservices?size=1&zone=%0a')).toBe(
      'The query of this request has a control character in parameter "zone".',
    );
  });
});

describe('the first line of a request', () => {
  let rest: RestFixture;
  beforeAll(async () => {
    rest = await restFixture();
  });
  afterAll(() => rest.close());

  it.each([
    ['a path that is too long', `/${'x'.repeat(9_000)}`, 414],
    ['a query that is too long', `/meshservices?name=${'x'.repeat(9_000)}`, 414],
    ['too many parameters', `/meshservices?${'a=1&'.repeat(100)}`, 400],
  ])('is refused with %s', async (_, url, status) => {
    const answer = await rest.server.inject({ url });
    expect([answer.statusCode, answer.body.length < 1_000]).toEqual([status, true]);
  });
});
