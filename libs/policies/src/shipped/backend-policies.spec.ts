import fc from 'fast-check';
import { Type } from 'typebox';
import { dataplaneModes, type ShippedPolicy } from './shipped-policy';
import { CircuitBreakerPolicy } from './circuit-breaker-policy';
import { LoadBalancingPolicy } from './load-balancing-policy';
import { RateLimitPolicy } from './rate-limit-policy';
import { Period } from './schema-parts';
import { compileSchema, durationMs } from '@causeway/resources';

const fieldsOf = (found: readonly { readonly field: string }[]): readonly string[] => found.map(({ field }) => field);

describe('policies on what serves', () => {
  it.each<[string, ShippedPolicy, readonly object[], readonly object[]]>([
    [
      'CircuitBreakerPolicy',
      CircuitBreakerPolicy,
      [
        {},
        { limits: { connections: 1, requests: 1_000_000 } },
        { ejection: { consecutiveErrors: 3, interval: '1s', time: '24h', maxPercent: 0 } },
      ],
      [
        { limits: { connections: 0 } },
        { limits: { requests: 1_000_001 } },
        { limits: { pending: 1 } },
        { ejection: { time: '0s' } },
        { ejection: { maxPercent: 101 } },
      ],
    ],
    [
      'LoadBalancingPolicy',
      LoadBalancingPolicy,
      [
        { algorithm: 'Maglev', hash: [{ header: 'x-user' }, { cookie: 'c', ttl: '1h' }] },
        { locality: { weights: { east: 0, west: 3 }, failover: ['east'], localFirst: false } },
      ],
      [
        { algorithm: 'Best' },
        { hash: [{ header: 'a b' }] },
        { hash: [{ sourceAddress: false }] },
        { hash: Array.from({ length: 9 }, () => ({ header: 'a' })) },
        { locality: { weights: { east: -1 } } },
        { locality: { weights: { 'a\nb': 1 } } },
        { locality: { failover: [''] } },
      ],
    ],
    [
      'RateLimitPolicy',
      RateLimitPolicy,
      [{}, { requests: { count: 10, per: '1m' } }, { connections: { count: 1 } }],
      [{ requests: { count: 0 } }, { requests: { per: '1d' } }, { requests: { burst: 1 } }],
    ],
  ])('%s takes what has bounds, and nothing else', (_, { read }, good, bad) => {
    expect(good.map((each) => read({ ...each }))).toEqual(good);
    expect(bad.map((each) => read({ ...each }))).toEqual(bad.map(() => undefined));
  });

  it('a period is more than nothing and at most a day', () => {
    const { fits } = compileSchema(Type.Object({ at: Period }));
    fc.assert(
      fc.property(fc.nat(99_999), fc.constantFrom('ms', 's', 'm', 'h', 'd'), (number, unit) => {
        const ms = durationMs(`${number}${unit}`) ?? 0;
        if (fits({ at: `${number}${unit}` })) expect([ms >= 100, ms <= 86_400_000]).toEqual([true, true]);
      }),
    );
    for (const at of ['100ms', '1s', '86400ms', '9999s', '999m', '24h']) expect([at, fits({ at })]).toEqual([at, true]);
  });

  it.each<[string, readonly string[]]>([
    ['envoy', []],
    ['builtin', ['/limits/requests', '/ejection']],
    ['grpc', ['/limits/connections', '/ejection']],
    ['direct', ['']],
    ['kuma-dp', ['']],
  ])('what %s cannot do of a circuit breaker', (name, want) => {
    const plane = dataplaneModes.find((each) => each === name) ?? 'envoy';
    const spec = { limits: { connections: 1, requests: 1 }, ejection: {} };
    expect(fieldsOf(CircuitBreakerPolicy.unsupported(plane, spec))).toEqual(want);
    expect(fieldsOf(CircuitBreakerPolicy.unsupported('builtin', { limits: { connections: 1 } }))).toEqual([]);
  });

  it('what planes cannot do of load balancing and of limits', () => {
    const { unsupported } = LoadBalancingPolicy;
    const spec = { algorithm: 'RingHash' as const, hash: [{ header: 'a' }], locality: { failover: ['east'] } };
    expect(dataplaneModes.map((plane) => fieldsOf(unsupported(plane, spec)))).toEqual([
      [],
      ['/algorithm', '/hash'],
      ['/algorithm', '/hash'],
      [],
      [''],
      // Traffic that leaves the mesh is spread by the callers; the egress gets nothing of it.
      [],
    ]);
    expect(fieldsOf(unsupported('grpc', { algorithm: 'Maglev', hash: [{ cookie: 'a' }] }))).toEqual([
      '/algorithm',
      '/hash',
    ]);
    expect(fieldsOf(unsupported('grpc', { hash: [{ header: 'User-Agent' }, { header: 'x-user' }] }))).toEqual([
      '/hash',
    ]);
    expect(fieldsOf(unsupported('builtin', { algorithm: 'LeastRequest' }))).toEqual([]);
    const limits = { requests: { count: 1 }, connections: { count: 1 } };
    expect(dataplaneModes.map((plane) => fieldsOf(RateLimitPolicy.unsupported(plane, limits)))).toEqual([
      [],
      [''],
      [''],
      [''],
      [''],
      [],
    ]);
  });
});
