import { OPERATIONS, routePath, type KindOperation, type Operation } from '@causeway/api';
import { plainTokens } from '../support/rest-access';
import { restFixture, ZONE_EAST, type RestFixture } from './rest-fixture';

/** Returns a legal path of an operation; one kind of its scope stands for all kinds. */
function pathOf({ path }: Operation | KindOperation): string {
  const plural = path.startsWith('/meshes/{mesh}') || path === '/{plural}' ? 'meshservices' : 'zones';
  return path.replace('{plural}', plural).replaceAll(/\{\w+\}/g, 'x');
}

/** Bodies that every handler refuses, by their fault. */
const WRONG = [
  ['no JSON', { 'content-type': 'application/json' }, '{"nonsense": ['],
  ['of no known type', { 'content-type': 'image/png' }, 'PNG'],
  ['with fields that nobody knows', { 'content-type': 'application/json' }, '{"nonsense": 1}'],
  ['longer than any may be', { 'content-type': 'application/json', 'content-length': '999999999' }, ''],
] as const;

const GUARDED = OPERATIONS.filter(({ access }) => access !== 'public').map((operation) => ({
  operation,
  name: `${operation.method} ${operation.path}`,
}));

describe('rights are decided before query and body', () => {
  let rest: RestFixture;
  beforeAll(async () => {
    rest = await restFixture({ cp: ZONE_EAST, access: { open: false, verifiers: [plainTokens] } });
  });
  afterAll(() => rest.close());

  it.each(GUARDED)('of $name', async ({ operation }) => {
    const url = `${pathOf(operation)}?nonsense=1&size=many`;
    const { method } = operation;
    for (const [what, headers, payload] of WRONG)
      for (const [caller, status] of [['', 401] as const, ['stranger:', 403] as const]) {
        const authorization = caller === '' ? {} : { authorization: `Bearer ${caller}` };
        const sent = method === 'GET' ? {} : { payload };
        const answer = await rest.server.inject({ method, url, ...sent, headers: { ...authorization, ...headers } });
        expect([what, caller, answer.statusCode]).toEqual([what, caller, status]);
      }
  });

  it('of every route that changes something: each is an operation', () => {
    const known = new Set(OPERATIONS.flatMap(({ path, aliases = [] }) => [path, ...aliases].map(routePath)));
    const written = rest.server
      .routes()
      .filter(({ methods }) => methods.some((method) => !['GET', 'HEAD', 'OPTIONS'].includes(method)));
    expect(written.map(({ path }) => path).filter((path) => !known.has(path))).toEqual([]);
    expect(written.length).toBeGreaterThan(20);
  });
});
