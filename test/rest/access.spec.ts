import type { JsonObject } from '@causeway/resources';
import { FakeClock } from '@causeway/runtime/testing';
import { plainTokens, type TestAccess } from '../support/rest-access';
import { restFixture, type FixtureOptions, type RestFixture } from './rest-fixture';

const TOKEN = 'operator-secret';
const generator = {
  type: 'HostnameGenerator',
  name: 'g',
  spec: { selector: { meshService: {} }, template: '{{ name }}.mesh' },
};
const service = { type: 'MeshService', name: 's', spec: {} };
const NO_OPERATOR: TestAccess = { open: false };
const STRICT: TestAccess = { open: false, operatorToken: TOKEN, verifiers: [plainTokens] };
const G = '/hostnamegenerators/g';
const S = '/meshes/default/meshservices/s';

let rest: RestFixture;
const open = async (options: FixtureOptions = {}): Promise<void> => {
  rest = await restFixture(options);
};
afterEach(() => rest.close());

function bearer(token: string): { readonly headers: { readonly authorization: string } } {
  return { headers: { authorization: `Bearer ${token}` } };
}

function bind(name: string, spec: JsonObject): Promise<void> {
  return rest.seed({ id: { kind: 'RoleBinding', mesh: '', zone: '', namespace: '', name }, spec });
}

describe('who may write', () => {
  it.each<[string, TestAccess, string | undefined, number]>([
    ['this machine', STRICT, undefined, 401],
    ['this machine, where there is no operator token', NO_OPERATOR, undefined, 401],
    ['the operator token', STRICT, `Bearer ${TOKEN}`, 201],
    ['the operator token, written small', STRICT, `bearer   ${TOKEN}`, 201],
    ['a wrong token', STRICT, 'Bearer wrong', 401],
    ['a token where none is set', NO_OPERATOR, `Bearer ${TOKEN}`, 401],
    ['another scheme', STRICT, 'Basic b3BlcmF0b3I6', 401],
    ['two tokens', STRICT, `Bearer ${TOKEN} ${TOKEN}`, 401],
    ['a user without rights', STRICT, 'Bearer anna:', 403],
    ['an administrator by a group', STRICT, 'Bearer anna:causeway:admins', 201],
  ])('%s', async (_case, access, authorization, wanted) => {
    await open({ access });
    const headers = authorization === undefined ? {} : { authorization };
    for (const [url, payload] of [
      [G, generator],
      [S, service],
    ] as const) {
      const answer = await rest.server.inject({ method: 'PUT', url, payload, headers });
      expect([url, answer.statusCode]).toEqual([url, wanted]);
    }
  });
});

describe('a refusal', () => {
  const challenge = (answer: { headers: Record<string, unknown> }): unknown => answer.headers['www-authenticate'];

  it('asks for credentials where there were none', async () => {
    await open({ access: STRICT });
    const answer = await rest.server.inject({ url: '/meshservices' });
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(challenge(answer)).toBe('Bearer realm="causeway"');
    expect(answer.json()).toMatchObject({
      status: 401,
      title: 'Unauthorized',
      detail: expect.stringMatching(/anonymous.*; send the header "Authorization: Bearer" with a user token/),
    });
  });

  it('says which check of a token failed, and repeats nothing of the token', async () => {
    await open({ access: STRICT });
    for (const url of ['/meshservices', '/', '/docs', '/no/such/path']) {
      const answer = await rest.server.inject({ url, ...bearer('abc.def.ghi') });
      expect([url, answer.statusCode, challenge(answer)]).toEqual([
        url,
        401,
        'Bearer realm="causeway", error="invalid_token"',
      ]);
      expect(answer.json().detail).toMatch(/^the bearer token is neither the operator token, nor a user token/);
      expect(answer.body).not.toContain('abc.def');
    }
    const huge = await rest.server.inject({ url: '/', ...bearer('x'.repeat(16_385)) });
    expect(huge.json().detail).toBe('the bearer token must not be longer than 16384 characters, has 16385');
  });

  it('tells a user what no binding gives, without asking for another token', async () => {
    await open({ access: STRICT });
    await bind('payments', {
      role: 'viewer',
      subjects: [{ kind: 'User', name: 'anna' }],
      namespaces: ['payments'],
    });
    const answer = await rest.server.inject({ url: '/meshes/default/meshservices', ...bearer('anna:') });
    expect([answer.statusCode, challenge(answer)]).toEqual([403, undefined]);
    expect(answer.json().detail).toMatch(/"anna".*list MeshService in mesh "default"/);
  });

  it('of an unknown path is the same for a writer without rights as of a known one', async () => {
    await open({ access: STRICT });
    for (const url of ['/no/such/path', S]) {
      const put = { method: 'PUT', url, payload: service } as const;
      expect((await rest.server.inject(put)).statusCode).toBe(401);
      expect((await rest.server.inject({ ...put, ...bearer('anna:') })).statusCode).toBe(403);
    }
    expect((await rest.server.inject({ url: '/no/such/path' })).statusCode).toBe(404);
  });
});

describe('who the caller is', () => {
  const ADMIN = { roles: [{ role: 'admin', binding: 'the binding that always exists', effect: 'grants' }] };

  it.each<[string, TestAccess, string | undefined, JsonObject]>([
    ['nobody', STRICT, undefined, { name: 'anonymous', groups: ['causeway:anonymous'], by: 'nothing', roles: [] }],
    ['the operator', STRICT, TOKEN, { name: 'operator', groups: ['causeway:admins'], by: 'operator-token', ...ADMIN }],
    [
      ...(['a user', STRICT, 'anna:dev'] as const),
      {
        name: 'anna',
        groups: ['causeway:authenticated', 'dev'],
        by: 'user-token',
        roles: [{ role: 'viewer', binding: 'RoleBinding readers', effect: 'grants' }],
      },
    ],
  ])('is said to %s', async (_, access, token, wanted) => {
    await open({ access });
    await bind('readers', { role: 'viewer', subjects: [{ kind: 'Group', name: 'dev' }] });
    const sent = token === undefined ? {} : bearer(token);
    expect((await rest.server.inject({ url: '/who-am-i', ...sent })).json()).toEqual(wanted);
  });
});

describe('secrets', () => {
  const url = '/meshes/default/secrets/key';
  const id = { kind: 'Secret', mesh: 'default', zone: 'east', namespace: '', name: 'key' };
  const spec = { data: 'dG9wIHNlY3JldA==' };
  const lists = ['/secrets', '/meshes/default/secrets'];

  it('show their value to a GET of one only', async () => {
    await open();
    await rest.seed({ id, spec });
    expect((await rest.server.inject({ url })).json().spec).toEqual(spec);
    const { kri } = (await rest.server.inject({ url })).json();
    expect((await rest.server.inject({ url: `/_kri/${kri}` })).statusCode).toBe(200);
    for (const list of lists) {
      expect((await rest.server.inject({ url: list })).body).not.toContain(spec.data);
    }
  });

  it('are for administrators only, whatever a role says', async () => {
    await open({ access: STRICT });
    await rest.seed({ id, spec });
    await bind('all', { role: 'mesh-operator', subjects: [{ kind: 'User', name: 'anna' }] });
    const everything = { kind: 'Role', mesh: '', zone: '', namespace: '', name: 'everything' };
    await rest.seed({ id: everything, spec: { rules: [{ verbs: ['*'], kinds: ['*'] }] } });
    await bind('more', { role: 'everything', subjects: [{ kind: 'User', name: 'bob' }] });
    for (const path of [url, '/_kri/kri_sec_default_east__key_', ...lists, '/globalsecrets']) {
      for (const token of ['anna:', 'bob:']) {
        const answer = await rest.server.inject({ url: path, ...bearer(token) });
        expect([path, answer.statusCode, answer.body.includes(spec.data)]).toEqual([path, 403, false]);
      }
      expect((await rest.server.inject({ url: path })).statusCode).toBe(401);
    }
  });
});

describe('rates', () => {
  it('are refused with 429 and when to come back, each user apart', async () => {
    const clock = new FakeClock();
    await open({ access: { ...STRICT, rates: { user: 2, address: 1 }, clock } });
    const statusOf = async (token?: string): Promise<number> =>
      (await rest.server.inject({ url: '/', ...(token === undefined ? {} : bearer(token)) })).statusCode;
    const five = async (token?: string): Promise<readonly number[]> => {
      const statuses: number[] = [];
      for (let i = 0; i < 5; i++) statuses.push(await statusOf(token));
      return statuses;
    };
    expect(await five('anna:')).toEqual([200, 200, 200, 200, 429]);
    expect(await five('bob:')).toEqual([200, 200, 200, 200, 429]);
    expect(await five('wrong')).toEqual([401, 401, 429, 429, 429]);
    expect(await five()).toEqual([429, 429, 429, 429, 429]);
    clock.advance(1_000);
    expect(await five('anna:')).toEqual([200, 200, 429, 429, 429]);
    const answer = await rest.server.inject({ url: '/', ...bearer('anna:') });
    expect([answer.headers['retry-after'], answer.json()]).toEqual([
      '1',
      expect.objectContaining({ status: 429, detail: 'user "anna" sends more requests than it may' }),
    ]);
  });
});
