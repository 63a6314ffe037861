import { shippedPolicies, type ShippedPolicy } from '@causeway/policies';
import type { JsonObject } from '@causeway/resources';
import type { UnsupportedCount } from '../progress/unsupported-proxies';
import { requiredBy } from './policy-requirement';

type Mode = UnsupportedCount['mode'];

function shipped(kind: string): ShippedPolicy {
  const found = shippedPolicies.find((one) => one.kind === kind);
  if (!found) throw new Error(`no ${kind}`);
  return found;
}

/** Proxies of these modes; those that end with `TCP` pass all traffic through as TCP. */
const proxies = (...modes: readonly (readonly [mode: Mode, isTcpPassthrough?: boolean])[]): UnsupportedCount[] =>
  modes.map(([mode, isTcpPassthrough = false]) => ({ mode, isTcpPassthrough, count: 1 }));

describe('what proxies lack for a policy', () => {
  const timeout = (spec: JsonObject): ReturnType<typeof requiredBy> => requiredBy(shipped('TimeoutPolicy'), { spec });
  const idle = timeout({ request: '1s', idle: '1s' });

  it.each<[string, UnsupportedCount[], RegExp, boolean]>([
    ['a mode that applies nothing', proxies(['builtin']), /^builtin: the builtin proxy passes/, true],
    ['a mode that applies a part', proxies(['grpc']), /^gRPC: \/idle [^;]*$/, false],
    ['both, whichever is first', proxies(['builtin'], ['grpc']), /^gRPC: \/idle .*; builtin: /, false],
    ['TCP passthrough', proxies(['envoy', true]), /^Envoy: passes requests on as bytes$/, true],
    ['TCP passthrough of a mode that lacks features too', proxies(['grpc', true]), /^gRPC: \/idle/, true],
    ['an unknown mode', proxies(['unknown']), /^it is not supported there$/, true],
    ['an unknown mode beside a known one', proxies(['unknown'], ['grpc']), /^gRPC: \/idle [^;]*$/, false],
  ])('of %s', (_, counts, description, appliesNothing) => {
    expect(idle.describeLack(counts)).toMatch(description);
    expect(idle.appliesNothing(counts)).toBe(appliesNothing);
  });

  it('supports a policy on requests where the mode has its features and sees requests', () => {
    const { features } = idle;
    expect(features.isSupported('envoy', false)).toBe(true);
    expect(features.isSupported('envoy', true)).toBe(false);
    expect(features.isSupported('grpc', false)).toBe(false);
    expect(timeout({ request: '1s' }).features.isSupported('grpc', false)).toBe(true);
  });

  it('asks for no requests where the policy is about connections', () => {
    const { features, describeLack } = requiredBy(shipped('AccessPolicy'), { spec: { allow: { all: {} } } });
    expect(features.isSupported('envoy', true)).toBe(true);
    expect(describeLack(proxies(['noEgress']))).toBe('it is not supported there');
  });
});
