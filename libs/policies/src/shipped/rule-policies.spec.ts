import { FieldPath, compileSchema, Violations, type JsonObject } from '@causeway/resources';
import { FaultPolicy } from './fault-policy';
import { HeaderPolicy, permittedChanges } from './header-policy';
import { RetryPolicy } from './retry-policy';
import type { ShippedPolicy } from './shipped-policy';
import { TimeoutPolicy } from './timeout-policy';

const shipped: readonly ShippedPolicy[] = [TimeoutPolicy, RetryPolicy, FaultPolicy, HeaderPolicy];

/** The first thing that a spec breaks, in words. */
function broken({ schema }: Pick<ShippedPolicy, 'schema'>, spec: JsonObject): string | undefined {
  const found = new Violations();
  compileSchema(schema).check(spec, FieldPath.at('spec'), found);
  const [first] = found.first;
  return first && `${first.field} ${first.reason}`;
}

const fitting: readonly (readonly [ShippedPolicy, JsonObject])[] = [
  [TimeoutPolicy, { request: '1h30m', backendRequest: '500ms', idle: '0s' }],
  [
    RetryPolicy,
    { attempts: 10, perTryTimeout: '1s', backoff: { base: '10ms' }, on: ['5xx', 'reset'], statuses: [409] },
  ],
  [FaultPolicy, { delay: { duration: '1s', percent: 0.0001 }, abort: { status: 200, grpcStatus: 16, percent: 100 } }],
  [HeaderPolicy, { request: { set: { 'x-a': '1' }, remove: { cookie: true } }, response: { add: { 'x-b': 'é\t!' } } }],
];

const NO_CHANGES = { set: {}, add: {}, remove: {} };
const NAME = /a name that must be a header name|does not fit/;
const header = (name: string, value = '1'): JsonObject => ({ request: { set: { [name]: value } } });
const breaking: readonly (readonly [ShippedPolicy, JsonObject, string | RegExp])[] = [
  [TimeoutPolicy, { request: '1.5s' }, 'spec.request must be a duration such as 500ms, 10s, 1h30m; got "1.5s"'],
  [TimeoutPolicy, { request: '1s1s1s1s1s' }, /duration/],
  [TimeoutPolicy, { connect: '1s' }, /spec.connect is not a known field/],
  [RetryPolicy, { attempts: 11 }, 'spec.attempts must be 1 to 10; got 11'],
  [RetryPolicy, { on: ['4xx'] }, /must be one of 5xx/],
  [RetryPolicy, { statuses: [200] }, /must be 400 to 599/],
  [FaultPolicy, { delay: { duration: '1s' } }, 'spec.delay.percent is required'],
  [FaultPolicy, { abort: { percent: 101 } }, 'spec.abort.percent must be 0 to 100; got 101'],
  [FaultPolicy, { abort: { percent: 0.00001 } }, /multiple of 0.0001|does not fit/],
  [FaultPolicy, { abort: { percent: 1, status: 600 } }, /must be 200 to 599/],
  ...['host', ':path', 'content-length', 'transfer-encoding', 'te', 'x-envoy-retry-on', 'proxy-status'].map(
    (name) => [HeaderPolicy, header(name), NAME] as const,
  ),
  ...['x-causeway-a', 'x-forwarded-client-cert', 'X-A', 'a b'].map(
    (name) => [HeaderPolicy, header(name), NAME] as const,
  ),
  [HeaderPolicy, { response: { remove: { a: false } } }, /must be true/],
  [HeaderPolicy, header('a', 'b\r\nc: d'), /must be one line of text/],
];

describe('the specs of policies on requests', () => {
  it.each(fitting.map(([policy, spec]) => [policy.kind, spec, policy] as const))(
    'of %s may be %j',
    (_, spec, policy) => {
      expect(broken(policy, spec)).toBeUndefined();
      expect(policy.read(spec)).toBe(spec);
    },
  );

  it.each(breaking.map(([policy, ...row]) => [policy.kind, ...row, policy] as const))(
    'of %s may not be %j',
    (_, spec, reason, policy) => {
      expect(broken(policy, spec)).toEqual(typeof reason === 'string' ? reason : expect.stringMatching(reason));
      // Stored changes of headers are sent one by one; what of them breaks the rule is not.
      const left = policy === HeaderPolicy && HeaderPolicy.read(spec)?.request;
      expect(left ? permittedChanges(left) : policy.read(spec)).toEqual(left ? NO_CHANGES : undefined);
    },
  );

  it('of headers as they are stored lose the changes that are forbidden, by name, and keep the others', () => {
    const spec = {
      request: {
        set: { 'content-length': '3', 'x-a': '1', 'x-b': 'a\r\nb' },
        remove: { 'x-envoy-a': true, 'x-c': true },
      },
      response: { add: { 'x-forwarded-client-cert': 'URI=spiffe://liar' } },
    } as const;
    const read = HeaderPolicy.read(spec);
    if (!read) throw new Error('is not read');
    expect(permittedChanges(read.request ?? {})).toEqual({ set: { 'x-a': '1' }, add: {}, remove: { 'x-c': true } });
    expect(permittedChanges(read.response ?? {})).toEqual(NO_CHANGES);
    expect(HeaderPolicy.unsupported('envoy', read).map(({ field }) => field)).toEqual([
      '/request/set/content-length',
      '/request/set/x-b',
      '/request/remove/x-envoy-a',
      '/response/add/x-forwarded-client-cert',
    ]);
  });

  it('of headers whose names only begin like forbidden ones may be so', () => {
    expect(
      broken(HeaderPolicy, { request: { set: { 'host-name': '1', teapot: '2', 'x-envoyage': '3' } } }),
    ).toBeUndefined();
  });
});

describe('what planes cannot do', () => {
  it.each(shipped.map((each) => [each.kind, each] as const))(
    'of %s is everything where requests are bytes, and nothing in Envoy',
    (_, { unsupported }) => {
      expect(
        ['builtin', 'direct'].map((plane) => unsupported(plane as 'builtin', {}).map(({ field }) => field)),
      ).toEqual([[''], ['']]);
      expect(unsupported('envoy', {})).toEqual([]);
    },
  );

  it('in gRPC is said by field', () => {
    const retry = { attempts: 5, perTryTimeout: '1s', on: ['5xx', 'unavailable'] as const, statuses: [409] };
    const lost = RetryPolicy.unsupported('grpc', { ...retry, on: [...retry.on] });
    expect(lost.map(({ field }) => field)).toEqual(['/on', '/statuses', '/perTryTimeout', '/attempts']);
    expect(lost[0]?.reason).toContain('not on 5xx');
    expect(RetryPolicy.unsupported('grpc', { attempts: 4, on: ['unavailable'] })).toEqual([]);
    expect(TimeoutPolicy.unsupported('grpc', { request: '1s', idle: '1s' }).map(({ field }) => field)).toEqual([
      '/idle',
    ]);
    expect(HeaderPolicy.unsupported('grpc', {}).map(({ field }) => field)).toEqual(['']);
    expect(FaultPolicy.unsupported('grpc', { abort: { percent: 1 } })).toEqual([]);
  });
});
