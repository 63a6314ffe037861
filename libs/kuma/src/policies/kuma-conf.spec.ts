import {
  AccessPolicy,
  backoffTimes,
  RetryPolicy,
  TimeoutPolicy,
  type AccessSpec,
  type RetrySpec,
} from '@causeway/policies';
import { retryConf, type RuleSpecs, type TranslatedConf } from './mesh-retry';
import { timeoutConf } from './mesh-timeout';
import { permissionConf } from './mesh-traffic-permission';

const outcome = (translated: TranslatedConf): unknown =>
  translated.ok ? (translated.conf ?? 'nothing') : translated.reason;

describe('a TimeoutPolicy as a MeshTimeout of Kuma', () => {
  it.each<[string, RuleSpecs, unknown]>([
    ['no policy', {}, 'nothing'],
    ['a policy that says nothing', { timeout: {} }, 'nothing'],
    ['a request; without a byte 30m, as here', { timeout: { request: '10s' } }, ['10s', '1800s']],
    ['parts of a second', { timeout: { request: '1s500ms', idle: '250ms' } }, ['1500ms', '250ms']],
    ['no limit of the request, where only idle is set: Kuma has 15s', { timeout: { idle: '1h' } }, ['0s', '3600s']],
    ['no limits', { timeout: { request: '0s', idle: '0s' } }, ['0s', '0s']],
    [
      'an attempt that is as long as the request',
      { timeout: { request: '5s', backendRequest: '5s' } },
      ['5s', '1800s'],
    ],
    ['an attempt without end', { timeout: { request: '5s', backendRequest: '0s' } }, ['5s', '1800s']],
    [
      'an attempt by a RetryPolicy, which wins',
      { timeout: { request: '5s', backendRequest: '1s' }, retry: { perTryTimeout: '2s' } },
      ['5s', '1800s'],
    ],
  ])('%s', (_, specs, want) => {
    if (specs.timeout) expect(TimeoutPolicy.read(specs.timeout)).toBe(specs.timeout);
    const [requestTimeout, streamIdleTimeout] = Array.isArray(want) ? (want as string[]) : [];
    expect(outcome(timeoutConf(specs, false))).toEqual(
      want === 'nothing' ? want : { http: { requestTimeout, streamIdleTimeout } },
    );
  });

  it.each<[RuleSpecs]>([
    [{ timeout: { request: '5s', backendRequest: '1s' } }],
    [{ timeout: { backendRequest: '1s' } }],
  ])('is not made of %j, but where a MeshRetry limits attempts', (specs) => {
    expect(outcome(timeoutConf(specs, false))).toContain('backendRequest limits one attempt');
    expect(timeoutConf(specs, true)).toMatchObject({ ok: true });
  });
});

describe('a RetryPolicy as a MeshRetry of Kuma', () => {
  const http = (retry: RetrySpec, protocol = 'http', more: RuleSpecs = {}): unknown => {
    expect(RetryPolicy.read(retry)).toBe(retry);
    return outcome(retryConf({ ...more, retry }, protocol));
  };
  const usual = {
    numRetries: 4,
    perTryTimeout: '0s',
    backOff: { baseInterval: '25ms', maxInterval: '250ms' },
    hostSelection: [{ predicate: 'OmitPreviousHosts' }],
    hostSelectionMaxAttempts: 10,
  };

  it('says all that is done here, also what no policy says: Kuma has others', () => {
    expect(http({ on: ['5xx'] })).toEqual({ http: { ...usual, retryOn: ['ConnectFailure', 'RefusedStream', '5xx'] } });
  });

  it('has how often, how long and how soon, and each condition and status once', () => {
    const retry: RetrySpec = {
      attempts: 2,
      perTryTimeout: '1s500ms',
      backoff: { base: '100ms', max: '2s' },
      on: ['gateway-error', 'reset', 'connect-failure', 'retriable-4xx', 'refused-stream', 'reset'],
      statuses: [429, 503, 429],
    };
    expect(http(retry)).toEqual({
      http: {
        ...usual,
        numRetries: 2,
        perTryTimeout: '1500ms',
        backOff: { baseInterval: '100ms', maxInterval: '2s' },
        retryOn: ['ConnectFailure', 'RefusedStream', 'GatewayError', 'Reset', 'Retriable4xx', '429', '503'],
      },
    });
  });

  it.each<[string, RuleSpecs['timeout'], string]>([
    ['of a TimeoutPolicy', { backendRequest: '3s' }, '3s'],
    ['without end, where nobody says one', { request: '3s' }, '0s'],
  ])('has the time of an attempt %s', (_, timeout, want) => {
    expect(http({ on: ['reset'] }, 'http', { timeout })).toMatchObject({ http: { perTryTimeout: want } });
  });

  it('nothing is sent without a policy, or for an empty one', () => {
    expect(outcome(retryConf({}, 'http'))).toBe('nothing');
    expect(http({})).toBe('nothing');
  });

  it.each<[string, RetrySpec, string, string]>([
    ['conditions that no server has begun alone', { attempts: 3 }, 'http', '5xx, gateway-error or reset only'],
    ['connect-failure alone', { on: ['connect-failure', 'retriable-4xx'] }, 'http', '5xx, gateway-error or reset only'],
    ['statuses alone', { statuses: [503] }, 'http', '5xx, gateway-error or reset only'],
    ['a status of gRPC', { on: ['5xx', 'unavailable'] }, 'http', 'on unavailable'],
    ['a status without a name', { on: ['5xx'], statuses: [503, 499] }, 'http', 'status 499'],
    ['status 420', { on: ['5xx'], statuses: [420] }, 'http', 'status 420'],
    ['status 509', { on: ['5xx'], statuses: [509] }, 'http', 'status 509'],
    ['a port of grpc', { on: ['5xx'] }, 'grpc', 'appProtocol is grpc'],
    ['a port of http2', { on: ['5xx'] }, 'http2', 'appProtocol is http2'],
  ])('is not made of %s', (_, retry, protocol, why) => {
    expect(http(retry, protocol)).toContain(why);
  });

  it.each<[NonNullable<RetrySpec['backoff']>, number, number]>([
    [{}, 25, 250],
    [{ base: '100ms' }, 100, 1_000],
    [{ max: '10ms' }, 10, 10],
    [{ max: '1s' }, 25, 1_000],
    [{ base: '2s', max: '1s' }, 2_000, 2_000],
    [{ base: '0s', max: '0s' }, 1, 1],
  ])('waits as Envoy does here: %j', (backoff, base, max) => {
    expect(backoffTimes(backoff)).toEqual({ base, max });
  });
});

describe('an AccessPolicy as a MeshTrafficPermission of Kuma', () => {
  const id = (name: string): string => `spiffe://default.east.mesh.local/workload/${name}`;
  const exact = (...names: readonly string[]) => ({
    from: names.map((name) => ({ spiffeId: { type: 'Exact' as const, value: id(name) } })),
  });
  const match = (name: string) => ({ spiffeID: { type: 'Exact', value: id(name) } });
  const access = (spec: AccessSpec, defaultAccess: 'Allow' | 'Deny' = 'Allow'): unknown => {
    expect(AccessPolicy.read(spec)).toBe(spec);
    return outcome(permissionConf(spec, defaultAccess, []));
  };

  it('lets in whom it allows, each id once, in order', () => {
    expect(access({ allow: { b: exact('web', 'api'), a: exact('web') } })).toEqual({
      allow: [match('api'), match('web')],
    });
  });

  it('refuses whom it denies, also where it allows them', () => {
    expect(access({ allow: { a: exact('web', 'api') }, deny: { b: exact('api') } })).toEqual({
      deny: [match('api')],
      allow: [match('api'), match('web')],
    });
  });

  it('names callers by both ids while the form of ids changes', () => {
    const changing = [{ domains: ['default.east.mesh.local'], namespaces: ['shop'] }];
    const inShop = (name: string) => `spiffe://default.east.mesh.local/ns/shop/workload/${name}`;
    const spec: AccessSpec = {
      allow: { a: { from: [{ spiffeId: { type: 'Exact', value: inShop('api') } }, ...exact('web').from] } },
      deny: { b: { from: [{ spiffeId: { type: 'Exact', value: inShop('job') } }] } },
    };
    const named = (value: string) => ({ spiffeID: { type: 'Exact', value } });
    expect(outcome(permissionConf(spec, 'Deny', changing))).toEqual({
      deny: [named(inShop('job')), match('job')],
      allow: [named(inShop('api')), named(inShop('web')), match('web')],
    });
  });

  it.each<[string, AccessSpec, 'Allow' | 'Deny']>([
    ['says nothing', {}, 'Allow'],
    ['allows nobody: Kuma lets nobody in by default', { allow: {} }, 'Allow'],
    ['denies some where nobody else may call', { deny: { a: exact('web') } }, 'Deny'],
  ])('tells nothing where a policy %s', (_, spec, defaultAccess) => {
    expect(access(spec, defaultAccess)).toBe('nothing');
  });

  it.each<[string, AccessSpec, string]>([
    [
      'a deny, where all others may call',
      { deny: { a: exact('web') } },
      'defaultAccess of MeshParameters allows all other callers',
    ],
    ['all callers', { allow: { a: {} } }, 'allow.a applies to all callers'],
    ['all callers denied', { allow: { a: exact('web') }, deny: { b: {} } }, 'deny.b applies to all callers'],
    ['methods', { allow: { a: { ...exact('web'), to: [{ methods: ['GET'] }] } } }, 'allow.a names methods or paths'],
    ['a namespace', { allow: { a: { from: [{ namespace: 'shop' }] } } }, 'allow.a names a namespace'],
    ['a zone', { deny: { a: { from: [{ zone: 'west' }] } }, allow: {} }, 'deny.a names a zone'],
    ['a service', { allow: { a: { from: [{ service: { namespace: 'a', name: 'b' } }] } } }, 'names a service'],
    [
      'an id and a zone',
      { allow: { a: { from: [{ spiffeId: { type: 'Exact', value: id('web') }, zone: 'east' }] } } },
      'names a zone',
    ],
    [
      'a prefix: it would take ids that begin alike',
      { allow: { a: { from: [{ spiffeId: { type: 'Prefix', value: id('web') } }] } } },
      'names a prefix',
    ],
    [
      'an id that ends at a slash',
      { allow: { a: { from: [{ spiffeId: { type: 'Exact', value: id('') } }] } } },
      'is no SPIFFE id',
    ],
  ])('is not made of %s', (_, spec, why) => {
    expect(access(spec)).toContain(why);
  });

  it('is not made of more than 1024 ids', () => {
    const many = (from: number) => exact(...Array.from({ length: 32 }, (_, i) => `w${from + i}`));
    const rules = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`r${i}`, many(i * 32)]));
    expect(access({ allow: rules(32) })).toMatchObject({ allow: expect.any(Array) as unknown });
    const spec: AccessSpec = { allow: rules(32), deny: { one: exact('x') } };
    expect(access(spec)).toContain('more than 1024 ids');
  });
});
