import { NotFound, Unavailable } from '@causeway/resources';
import type { SyncDecisions } from '@causeway/queries/testing';
import { plainTokens, type TestAccess } from '../support/rest-access';
import { restFixture, ZONE_EAST, type RestFixture } from './rest-fixture';

const TOKEN = 'operator-secret';
const LIFE = { incarnation: 'life-2', since: 1_767_225_600_000 };

describe('what an operator decides of sync, by REST', () => {
  let asked: unknown[];
  let failure: Error | undefined;
  let pending: typeof LIFE | undefined;
  let rest: RestFixture;
  const note = <T>(what: unknown, answer: T): Promise<T> => {
    asked.push(what);
    return failure ? Promise.reject(failure) : Promise.resolve(answer);
  };
  const global: SyncDecisions = {
    confirmZone: (zone) => note({ confirm: zone }, pending),
    adoptZone: (zone, storeId) => note({ adopt: zone, storeId }, { zone, storeId: storeId ?? 's2', formerly: 's1' }),
    resetEpoch: (zone) => note({ reset: zone }, zone === 'fresh' ? -1 : 7),
  };
  const open = async (syncDecisions: SyncDecisions = global, access?: TestAccess): Promise<void> => {
    [asked, failure, pending] = [[], undefined, LIFE];
    const cp = syncDecisions.confirmGlobal ? ZONE_EAST : ({ role: 'global' } as const);
    rest = await restFixture({ cp, syncDecisions, ...(access ? { access } : {}) });
  };
  const post = (url: string, payload?: object | string, headers: Record<string, string> = {}) =>
    rest.server.inject({ method: 'POST', url, headers, ...(payload === undefined ? {} : { payload }) });

  afterEach(() => rest.close());

  it('confirms the new incarnation of a zone, or says that there is none', async () => {
    await open();
    const since = '2026-01-01T00:00:00.000Z';
    expect((await post('/zones/east/_confirm')).json()).toEqual({ confirmed: true, incarnation: 'life-2', since });
    pending = undefined;
    expect((await post('/zones/east/_confirm')).json()).toEqual({ confirmed: false });
    expect(asked).toEqual([{ confirm: 'east' }, { confirm: 'east' }]);
  });

  it('confirms the new incarnation of the global', async () => {
    await open({ confirmGlobal: () => note('global', pending) });
    expect((await post('/global/_confirm')).json()).toMatchObject({ confirmed: true, incarnation: 'life-2' });
    expect(asked).toEqual(['global']);
  });

  it('adopts the store that is named, and without a name the one refused last', async () => {
    await open();
    const named = await post('/zones/east/_adopt', { storeId: 's3' });
    expect(named.json()).toEqual({ zone: 'east', storeId: 's3', formerly: 's1' });
    for (const payload of [undefined, {}]) {
      expect((await post('/zones/east/_adopt', payload)).json()).toMatchObject({ storeId: 's2' });
    }
    expect(asked.slice(1)).toEqual([
      { adopt: 'east', storeId: undefined },
      { adopt: 'east', storeId: undefined },
    ]);
  });

  it('resets the epoch of a zone and says which one stood', async () => {
    await open();
    expect((await post('/zones/east/_reset-epoch')).json()).toEqual({ zone: 'east', formerly: 7 });
    expect((await post('/zones/fresh/_reset-epoch')).json()).toEqual({ zone: 'fresh' });
    expect(asked).toEqual([{ reset: 'east' }, { reset: 'fresh' }]);
  });

  it.each<[string, object | string, number]>([
    ['an id that is no text', { storeId: 1 }, 422],
    ['an empty id', { storeId: '' }, 422],
    ['an id with a line break', { storeId: 'a\nb' }, 422],
    ['an unknown field', { store: 'a' }, 422],
    ['no object', [], 422],
  ])('refuses to adopt %s', async (_, payload, status) => {
    await open();
    expect((await post('/zones/east/_adopt', payload)).statusCode).toBe(status);
    expect(asked).toEqual([]);
  });

  it('knows no zone by a name that none can have', async () => {
    await open();
    for (const [name, status] of [...['East', '-', 'x'.repeat(300)].map((bad) => [bad, 404] as const), ['%00', 400]]) {
      for (const what of ['_confirm', '_adopt', '_reset-epoch'])
        expect([name, what, (await post(`/zones/${name}/${what}`)).statusCode]).toEqual([name, what, status]);
    }
    expect(asked).toEqual([]);
  });

  it.each<[Error, number]>([
    [new NotFound('zone east never had a session'), 404],
    [new Unavailable('the database is away'), 503],
  ])('passes on %p', async (error, status) => {
    await open();
    failure = error;
    expect((await post('/zones/east/_confirm')).statusCode).toBe(status);
    expect((await post('/zones/east/_adopt')).statusCode).toBe(status);
    expect((await post('/zones/east/_reset-epoch')).statusCode).toBe(status);
  });

  const STRICT: TestAccess = { open: false, operatorToken: TOKEN, verifiers: [plainTokens] };
  it.each<[string, TestAccess, Record<string, string>, number]>([
    ['no credentials', STRICT, {}, 401],
    ['no credentials, by a name of this machine', STRICT, { host: '127.0.0.1:5681' }, 401],
    ['the operator token', STRICT, { authorization: `Bearer ${TOKEN}` }, 200],
    ['another token', STRICT, { authorization: 'Bearer another' }, 401],
    ['a user without rights', STRICT, { authorization: 'Bearer anna:' }, 403],
  ])('is for whoever may decide: %s', async (_, access, headers, status) => {
    const urls = ['/zones/east/_confirm', '/zones/east/_adopt', '/zones/east/_reset-epoch', '/global/_confirm'];
    await open({ ...global, confirmGlobal: () => note('global', pending) }, access);
    const answers = await Promise.all(urls.map((url) => post(url, undefined, headers)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(urls.map(() => status));
    expect(asked).toHaveLength(status === 200 ? urls.length : 0);
  });

  it('is decided where it can be, which the other side says', async () => {
    await open({});
    for (const url of ['/zones/east/_confirm', '/zones/east/_adopt', '/zones/east/_reset-epoch']) {
      const answer = await post(url);
      expect([answer.statusCode, answer.json().detail]).toEqual([404, expect.stringContaining('global control plane')]);
    }
    const answer = await post('/global/_confirm');
    expect([answer.statusCode, answer.json().detail]).toEqual([404, expect.stringContaining('each zone')]);
  });
});
