import { request as httpRequest } from 'node:http';
import { coreKinds } from '@causeway/kinds';
import type { RegisteredRoute } from '@causeway/rest';
import { restFixture, ZONE_EAST, type FixtureOptions, type RestFixture } from './rest-fixture';
import { openSyncDecisions, openZoneAccess } from './open-zone-access';

/** What the guard says, and nothing else does. */
const REFUSED = /through no proxy and no web page of another origin|send the operator token/;
const SAFE = ['GET', 'HEAD', 'OPTIONS'] as const;
const METHODS = [...SAFE, 'PUT', 'PATCH', 'DELETE', 'POST'] as const;
/** POST that only reads. */
const READING = ['/_explain/hostname'];

const HOSTILE: readonly (readonly [string, Record<string, string>])[] = [
  ['a name that points here', { host: 'evil.example' }],
  ['a page of another origin', { origin: 'https://evil.example' }],
  ['a page of another site', { 'sec-fetch-site': 'cross-site' }],
  ['a proxy', { 'x-forwarded-for': '10.0.0.1' }],
  ['a proxy that says nothing but its name', { via: '1.1 proxy' }],
];

interface Tried {
  readonly method: (typeof METHODS)[number];
  readonly url: string;
  readonly closed: boolean;
}

function isSafe(method: string): boolean {
  return SAFE.some((safe) => safe === method);
}

/** Every route with every method, for every kind where it has one. */
function everyCall(routes: readonly RegisteredRoute[]): readonly Tried[] {
  return routes.flatMap(({ path, methods }) => {
    const kinds = path.includes(':plural')
      ? coreKinds.kinds.filter((kind) => path.startsWith('/meshes/:mesh') === (kind.scope === 'mesh'))
      : [undefined];
    return kinds.flatMap((kind) => {
      const url = path
        .replace(':mesh', 'default')
        .replace(':plural', kind?.plural ?? '')
        .replace(':kri', 'kri_sec_default_east__key_')
        .replace(':name', 'x');
      const isSecret =
        path === '/_doctor' ||
        path === '/_audit' ||
        path.includes(':kri') ||
        (kind?.confidential === true && path.includes(':name'));
      const closed = (method: string): boolean =>
        isSafe(method) ? isSecret && method !== 'OPTIONS' : !READING.includes(path);
      const served = METHODS.filter((method) => method === 'OPTIONS' || methods.includes(method));
      return served.map((method) => ({ method, url, closed: closed(method) }));
    });
  });
}

async function allowed(rest: RestFixture, { method, url }: Tried, headers: Record<string, string>): Promise<boolean> {
  const sent = isSafe(method) ? { headers } : { headers, payload: {} };
  const answer = await rest.server.inject({ method, url, ...sent });
  return !(answer.statusCode === 403 && (method === 'HEAD' || REFUSED.test(answer.json().detail)));
}

describe('every route with every method', () => {
  let rest: RestFixture;
  const open = async (options: FixtureOptions): Promise<readonly Tried[]> => {
    rest = await restFixture({ zoneAccess: openZoneAccess, syncDecisions: openSyncDecisions, ...options });
    return everyCall(rest.server.routes());
  };
  afterEach(() => rest.close());

  describe.each<[string, FixtureOptions]>([
    ['a zone', { cp: ZONE_EAST }],
    ['a global', { cp: { role: 'global' } }],
    ['a control plane with a token', { access: { bindAddress: '127.0.0.1', operatorToken: 'secret' } }],
  ])('of %s', (_, options) => {
    it.each(HOSTILE)('is closed to %s where it writes or shows a secret, and open else', async (_name, headers) => {
      const calls = await open(options);
      expect(calls.length).toBeGreaterThan(100);
      const wrong: string[] = [];
      for (const call of calls) {
        if ((await allowed(rest, call, headers)) === call.closed) wrong.push(`${call.method} ${call.url}`);
      }
      expect(wrong).toEqual([]);
    });
  });

  it('is open to a program on this machine', async () => {
    const calls = await open({});
    const refused: string[] = [];
    for (const call of calls) if (!(await allowed(rest, call, {}))) refused.push(`${call.method} ${call.url}`);
    expect(refused).toEqual([]);
  });

  it('is open to the operator, by whatever name and way', async () => {
    const calls = await open({ access: { bindAddress: '127.0.0.1', operatorToken: 'secret' } });
    const headers = Object.assign({ authorization: 'Bearer secret' }, ...HOSTILE.map(([, hostile]) => hostile));
    const refused: string[] = [];
    for (const call of calls) if (!(await allowed(rest, call, headers))) refused.push(`${call.method} ${call.url}`);
    expect(refused).toEqual([]);
  });

  it('is closed to a peer elsewhere that calls itself local', async () => {
    const calls = await open({});
    for (const { method, url, closed } of calls.filter((call) => call.closed)) {
      const answer = await rest.server.inject({ method, url, remoteAddress: '10.0.0.1' });
      expect([method, url, answer.statusCode, closed]).toEqual([method, url, 403, true]);
    }
  });
});

describe('DNS rebinding', () => {
  let rest: RestFixture;
  afterEach(() => rest.close());

  it.each([
    ['a signing key', '/globalsecrets/zone-token-signing-key-99', { type: 'GlobalSecret', spec: { data: 'a2V5' } }],
    ['a zone without authentication', '/zones/x', { type: 'Zone', spec: { auth: 'none' } }],
    ['a mesh', '/meshes/x', { type: 'Mesh', spec: {} }],
  ])('cannot write %s over a real connection', async (_, path, body) => {
    rest = await restFixture({ cp: { role: 'global' } });
    const port = await rest.server.listen('127.0.0.1', 0);
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
    expect(await put({ host: evil, origin: `http://${evil}`, 'sec-fetch-site': 'same-origin' })).toBe(403);
    expect(await put({ host: evil })).toBe(403);
    expect(await put({ host: `localhost:${port + 1}` })).toBe(403);
    expect(await put({ host: `localhost:${port}` })).toBe(201);
  });
});

describe('control characters', () => {
  let rest: RestFixture;
  beforeEach(async () => {
    rest = await restFixture();
  });
  afterEach(() => rest.close());

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
  it.each([
    ['a path that is too long', `/${'x'.repeat(9_000)}`, 414],
    ['a query that is too long', `/meshservices?name=${'x'.repeat(9_000)}`, 414],
    ['too many parameters', `/meshservices?${'a=1&'.repeat(100)}`, 400],
  ])('is refused with %s', async (_, url, status) => {
    const rest = await restFixture();
    try {
      const answer = await rest.server.inject({ url });
      expect([answer.statusCode, answer.body.length < 1_000]).toEqual([status, true]);
    } finally {
      await rest.close();
    }
  });
});
