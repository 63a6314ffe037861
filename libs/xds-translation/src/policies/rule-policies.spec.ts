import { FractionalPercent_DenominatorType, HTTPFault, RetryPolicy } from '@causeway/proto-gen';
import { encodeMessage } from '@causeway/xds-server';
import { backoffFields, faultConfig, faultFields, headerFilters, retryFields, computeRuleTimes } from './rule-policies';
import { headerFields } from '../routes/route-filters';

const always = { retryOn: 'connect-failure,refused-stream', numRetries: 4 };

describe('time-outs', () => {
  it('are those of the rule, field by field, then of the attempt by a RetryPolicy, then of a TimeoutPolicy', () => {
    const timeout = { request: '10s', backendRequest: '2s', idle: '1m30s' };
    expect(computeRuleTimes(undefined, { timeout })).toEqual({ request: 10_000, attempt: 2_000, idle: 90_000 });
    expect(computeRuleTimes(undefined, { timeout, retry: { perTryTimeout: '500ms' } }).attempt).toBe(500);
    expect(computeRuleTimes({ backendRequest: '3s' }, { timeout, retry: { perTryTimeout: '500ms' } })).toMatchObject({
      request: 10_000,
      attempt: 3_000,
    });
  });

  it('of 0s are without end, also where they take a limit away', () => {
    const timeout = { request: '10s', idle: '0s' };
    expect(computeRuleTimes({ request: '0s' }, { timeout })).toEqual({ request: 0, attempt: 0, idle: 0 });
  });
});

describe('repetitions', () => {
  it('without a policy are those of every rule', () => {
    expect(retryFields(always, 0, undefined)).toEqual(always);
  });

  it('keep what no server has begun, and have one number for all reasons', () => {
    const fields = retryFields(always, 750, {
      attempts: 2,
      on: ['5xx', 'refused-stream', 'unavailable'],
      statuses: [409, 429],
    });
    expect(fields).toEqual({
      retryOn: 'connect-failure,refused-stream,5xx,unavailable,retriable-status-codes',
      numRetries: 2,
      retriableStatusCodes: [409, 429],
      perTryTimeout: { seconds: 0, nanos: 750e6 },
    });
  });

  it('wait as Envoy can: at least 1 ms, and never longer at first than at most', () => {
    const backOff = (backoff: object) => {
      const { baseInterval: base, maxInterval: max } = backoffFields(backoff).retryBackOff ?? {};
      return [base, max].map((each) => (each ? (each.seconds ?? 0) * 1_000 + (each.nanos ?? 0) / 1e6 : undefined));
    };
    expect(backOff({})).toEqual([undefined, undefined]);
    expect(backOff({ base: '100ms' })).toEqual([100, 1_000]);
    expect(backOff({ max: '10ms' })).toEqual([10, 10]);
    expect(backOff({ max: '1s' })).toEqual([25, 1_000]);
    expect(backOff({ base: '2s', max: '1s' })).toEqual([2_000, 2_000]);
    expect(backOff({ base: '0s', max: '0s' })).toEqual([1, 1]);
    expect(() => encodeMessage(RetryPolicy, backoffFields({ base: '1h' }))).not.toThrow();
  });
});

describe('faults', () => {
  const delay = { duration: '2s', percent: 12.3456 };

  it('are drawn by the millionth', () => {
    expect(faultFields({ delay }, false)?.delay).toEqual({
      faultDelaySecifier: { $case: 'fixedDelay', value: { seconds: 2, nanos: 0 } },
      percentage: { numerator: 123_456, denominator: FractionalPercent_DenominatorType.MILLION },
    });
    const abort = (percent: number) => faultFields({ abort: { status: 500, percent } }, false)?.abort?.percentage;
    expect([abort(0)?.numerator, abort(0.0001)?.numerator, abort(100)?.numerator]).toEqual([0, 1, 1_000_000]);
  });

  it('answer calls with the status of gRPC, requests with that of HTTP, and with the one that there is', () => {
    const answer = (abort: object, isCall: boolean) => {
      const type = faultFields({ abort: { percent: 1, ...abort } }, isCall)?.abort?.errorType;
      return type?.$case === 'headerAbort' ? '' : `${type?.$case} ${type?.value}`;
    };
    const both = { status: 418, grpcStatus: 8 };
    expect([answer(both, true), answer(both, false)]).toEqual(['grpcStatus 8', 'httpStatus 418']);
    expect([answer({ status: 418 }, true), answer({ grpcStatus: 8 }, false)]).toEqual([
      'httpStatus 418',
      'grpcStatus 8',
    ]);
    expect(answer({}, false)).toBe('httpStatus 503');
  });

  it('that wait for nothing, and none, say nothing; the others stand under the name of the filter', () => {
    expect(faultConfig(undefined, false)).toEqual({});
    expect(faultConfig({ delay: { duration: '0s', percent: 50 } }, false)).toEqual({});
    const bytes = faultConfig({ delay }, false).typedPerFilterConfig?.['fault']?.value;
    expect(HTTPFault.decode(bytes ?? Buffer.alloc(0)).delay?.percentage?.numerator).toBe(123_456);
  });
});

describe('changes of headers', () => {
  it('come before those of the rule, whose word on a header is the last', () => {
    const policy = headerFilters({
      request: { set: { b: 'policy', a: '1' }, add: { c: 'policy' }, remove: { d: true } },
      response: { remove: { server: true } },
    });
    const own = [{ type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'B', value: 'rule' }] } }];
    const fields = headerFields([...policy, ...own]);
    expect(fields.requestHeadersToAdd?.map(({ header }) => `${header?.key}=${header?.value}`)).toEqual([
      'a=1',
      'B=rule',
      'c=policy',
    ]);
    expect([fields.requestHeadersToRemove, fields.responseHeadersToRemove]).toEqual([['d'], ['server']]);
  });
});
