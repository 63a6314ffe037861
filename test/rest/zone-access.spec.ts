import { Forbidden, Invalid, Unavailable } from '@causeway/resources';
import type { ZoneAccess } from '@causeway/queries';
import type { TestAccess } from '../support/rest-access';
import { restFixture, ZONE_EAST, type FixtureOptions, type RestFixture } from './rest-fixture';

const TOKEN = 'operator-secret';
const GLOBAL = { cp: { role: 'global' } } as const;

/** Records its requests. */
class NotedAccess implements ZoneAccess {
  readonly asked: unknown[] = [];
  failure: Error | undefined;
  pem: string | undefined = '-----BEGIN CERTIFICATE-----\n';

  async issue(order: { readonly zone: string }): ReturnType<ZoneAccess['issue']> {
    this.asked.push(order);
    if (this.failure) throw this.failure;
    return { token: 'a.b.c', id: 'id-1', zone: order.zone, scope: ['cp'], expiresAt: '2030-01-01T00:00:00.000Z' };
  }

  async list(): ReturnType<ZoneAccess['list']> {
    const facts = { zone: 'east', scope: ['cp'] };
    return [{ id: 'id-1', facts, issuedAt: 0, expiresAt: 1_000, issuedBy: 'anna', revoked: true }];
  }

  async revoke(id: string): Promise<readonly string[]> {
    this.asked.push(id);
    return ['no zone token with this id is on record'];
  }

  async rotate(): Promise<number> {
    this.asked.push('rotate');
    return 2;
  }

  authority(): string | undefined {
    return this.pem;
  }

  readonly invites: NonNullable<ZoneAccess['invites']> = {
    issue: async ({ zone, issuedBy }) => {
      this.asked.push({ zone, issuedBy });
      return { token: 'i.n.v', id: 'id-2', zone, expiresAt: '2030-01-01T00:00:00.000Z' };
    },
    list: async () => [
      { id: 'id-2', facts: { zone: 'east' }, issuedAt: 0, expiresAt: 1_000, issuedBy: 'anna', revoked: true },
    ],
    revoke: (id) => this.revoke(id),
    redeem: async (invite) => {
      this.asked.push(invite);
      if (this.failure) throw this.failure;
      return { token: 'a.b.c', id: 'id-1', zone: 'east', scope: ['cp'], expiresAt: '2030-01-01T00:00:00.000Z' };
    },
  };
}

interface SentRequest {
  readonly url?: string;
  readonly method?: 'GET' | 'POST';
  readonly payload?: object;
  readonly headers?: Record<string, string>;
}

describe('how zones are let in, by REST', () => {
  let zoneAccess: NotedAccess;
  let rest: RestFixture;
  const open = async (options: FixtureOptions = {}): Promise<void> => {
    zoneAccess = new NotedAccess();
    rest = await restFixture({ ...GLOBAL, zoneAccess, ...options });
  };
  const send = async ({ url = '/tokens/zone', method = 'POST', payload, headers = {} }: SentRequest) =>
    rest.server.inject({ url, method, headers, ...(payload ? { payload } : {}) });
  const order = { zone: 'east', validFor: '720h' };

  afterEach(() => rest.close());

  it('gives the bare token, as Kuma does, and nobody keeps it on the way', async () => {
    await open();
    const { statusCode, headers, body } = await send({ payload: order });
    expect([statusCode, headers['content-type'], body]).toEqual([200, 'text/plain; charset=utf-8', 'a.b.c']);
    expect(headers['cache-control']).toBe('no-store');
    expect(zoneAccess.asked).toEqual([{ ...order, issuedBy: 'local-socket' }]);
  });

  it('gives its id and end to who accepts JSON', async () => {
    await open();
    const answer = await send({ payload: { ...order, scope: ['cp'] }, headers: { accept: 'application/json' } });
    expect(answer.json()).toEqual({
      token: 'a.b.c',
      id: 'id-1',
      zone: 'east',
      scope: ['cp'],
      expiresAt: '2030-01-01T00:00:00.000Z',
    });
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('lists what was issued, and never a token', async () => {
    await open();
    const item = { id: 'id-1', zone: 'east', scope: ['cp'], issuedBy: 'anna', revoked: true };
    const times = { issuedAt: '1970-01-01T00:00:00.000Z', expiresAt: '1970-01-01T00:00:01.000Z' };
    expect((await send({ url: '/tokens/zone', method: 'GET' })).json()).toEqual({
      total: 1,
      next: null,
      items: [{ ...item, ...times }],
    });
  });

  it('revokes, makes keys and shows the authority', async () => {
    await open();
    const revoked = await send({ url: '/tokens/zone/revocations', payload: { id: 'id-1' } });
    expect([revoked.statusCode, revoked.json()]).toEqual([
      200,
      { warnings: ['no zone token with this id is on record'] },
    ]);
    expect((await send({ url: '/tokens/zone/keys' })).json()).toEqual({ serial: 2 });
    const { statusCode, headers, body } = await send({ url: '/kds/ca', method: 'GET' });
    expect([statusCode, headers['content-type'], body]).toEqual([200, 'application/x-pem-file', zoneAccess.pem]);
    expect(zoneAccess.asked).toEqual(['id-1', 'rotate']);
  });

  it.each<[string, object, string[]]>([
    ['nothing', {}, ['zone']],
    ['values of other types', { zone: 1, validFor: 720, scope: 'cp' }, ['zone', 'validFor', 'scope']],
    ['a list of other things', { ...order, scope: [1] }, ['scope[0]']],
    ['an unknown field', { ...order, valid: '1h' }, ['valid']],
    ['no object', [], ['']],
  ])('refuses an order with %s', async (_, payload, fields) => {
    await open();
    const answer = await send({ payload });
    expect(answer.statusCode).toBe(422);
    expect(answer.json().invalid_parameters.map(({ field }: { field: string }) => field)).toEqual(fields);
    expect(zoneAccess.asked).toEqual([]);
  });

  it.each<[Error, number]>([
    [new Invalid([{ field: 'zone', reason: 'must be lower case', rule: 'invalid' }]), 422],
    [new Forbidden('no'), 403],
    [new Unavailable('no key yet'), 503],
  ])('passes on %p', async (failure, status) => {
    await open();
    zoneAccess.failure = failure;
    expect((await send({ payload: order })).statusCode).toBe(status);
  });

  const STRICT: TestAccess = { open: false, operatorToken: TOKEN };
  const good = { authorization: `Bearer ${TOKEN}` };
  it.each<[string, TestAccess, Record<string, string>, number]>([
    ['loopback', STRICT, {}, 401],
    ['loopback, by its address', STRICT, { host: '127.0.0.1:5681' }, 401],
    ['loopback, by IPv6', STRICT, { host: '[::1]:5681' }, 401],
    ['loopback, its own page', STRICT, { host: 'localhost:5681', origin: 'http://localhost:5681' }, 401],
    ['loopback, a page elsewhere', STRICT, { origin: 'https://evil.example' }, 401],
    ['no token set', { open: false }, {}, 401],
    ['no token set, one sent', { open: false }, good, 401],
    ['token sent', STRICT, good, 200],
    ['token sent through a proxy', STRICT, { ...good, host: 'cp.example' }, 200],
    ['wrong token', STRICT, { authorization: 'Bearer x' }, 401],
  ])('%s', async (_, access, headers, status) => {
    await open({ access });
    const answers = await Promise.all([
      send({ payload: order, headers }),
      send({ url: '/tokens/zone/revocations', payload: { id: 'id-1' }, headers }),
      send({ url: '/tokens/zone/keys', headers }),
    ]);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([status, status, status]);
    expect(zoneAccess.asked).toHaveLength(status === 200 ? 3 : 0);
    expect((await send({ url: '/kds/ca', method: 'GET' })).statusCode).toBe(200);
  });

  it('shows secrets to nobody without credentials, by whatever name', async () => {
    await open({ access: STRICT });
    const payload = { type: 'GlobalSecret', name: 'key', spec: { data: 'c2VjcmV0Cg==' } };
    const url = '/globalsecrets/key';
    expect((await rest.server.inject({ method: 'PUT', url, payload, headers: good })).statusCode).toBe(201);
    expect((await send({ url, method: 'GET', headers: good })).statusCode).toBe(200);
    for (const host of ['evil.example', 'localhost', '127.0.0.1:5681'])
      expect((await send({ url, method: 'GET', headers: { host } })).statusCode).toBe(401);
  });

  it('invites zones: an administrator makes, lists and revokes invites, whoever has one uses it without a token', async () => {
    await open({ access: STRICT });
    const url = '/tokens/zone/invites';
    expect((await send({ url, payload: { zone: 'east' } })).statusCode).toBe(401);
    const made = await send({ url, payload: { zone: 'east' }, headers: good });
    expect([made.statusCode, made.headers['cache-control'], made.json()]).toEqual([
      200,
      'no-store',
      { token: 'i.n.v', id: 'id-2', zone: 'east', expiresAt: '2030-01-01T00:00:00.000Z' },
    ]);
    const listed = await send({ url, method: 'GET', headers: good });
    expect(listed.json()).toMatchObject({ total: 1, items: [{ id: 'id-2', zone: 'east', revoked: true }] });
    expect(listed.body).not.toContain('i.n.v');
    const revocation = { url: `${url}/revocations`, payload: { id: 'id-2' }, headers: good };
    expect((await send(revocation)).json()).toEqual({ warnings: ['no zone token with this id is on record'] });
    const used = await send({ url: `${url}/redemptions`, payload: { invite: 'i.n.v' } });
    expect([used.statusCode, used.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(used.json()).toMatchObject({ token: 'a.b.c', zone: 'east', authority: zoneAccess.pem });
    zoneAccess.failure = new Forbidden('the zone invite id-2 was used');
    const refused = await send({ url: `${url}/redemptions`, payload: { invite: 'i.n.v' } });
    expect([refused.statusCode, refused.json().detail]).toEqual([403, 'the zone invite id-2 was used']);
    expect((await send({ url: `${url}/redemptions`, payload: { invite: 'x'.repeat(5_000) } })).statusCode).toBe(422);
    expect(zoneAccess.asked).toEqual([{ zone: 'east', issuedBy: 'operator' }, 'id-2', 'i.n.v', 'i.n.v']);
  });

  it('says where to ask instead', async () => {
    await open({ cp: ZONE_EAST });
    zoneAccess.pem = undefined;
    expect((await send({ url: '/kds/ca', method: 'GET' })).json().detail).toMatch(/ask whoever issued its certificate/);
    await rest.close();
    rest = await restFixture({ cp: ZONE_EAST });
    for (const url of ['/tokens/zone', '/tokens/zone/revocations', '/tokens/zone/keys']) {
      const { statusCode, body } = await send({ url, payload: order });
      expect([statusCode, JSON.parse(body).detail]).toEqual([404, expect.stringMatching(/global control plane/)]);
    }
    const { statusCode, body } = await send({ url: '/tokens/zone/invites/redemptions', payload: { invite: 'a.b.c' } });
    expect([statusCode, JSON.parse(body).detail]).toEqual([404, expect.stringMatching(/global control plane/)]);
  });
});
