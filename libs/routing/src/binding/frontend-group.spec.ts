import fc from 'fast-check';
import {
  consumerGroup,
  consumerOfGroup,
  formatFrontendGroup,
  gatewayGroup,
  isGatewayGroup,
  parseFrontendGroup,
} from './frontend-group';

const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,20}[a-z0-9])?$/);
const parts = fc.oneof(
  fc.constantFrom({ type: 'producer' as const }, { type: 'backend' as const }),
  fc.record({ type: fc.constant('consumer' as const), namespace: name }),
  fc.record({ type: fc.constant('gateway' as const), gateway: fc.tuple(name, name).map((both) => both.join('/')) }),
);

it('a group has the parts that it was made of', () => {
  fc.assert(
    fc.property(parts, (some) => {
      const group = formatFrontendGroup(some);
      expect(parseFrontendGroup(group)).toEqual(some);
      expect(isGatewayGroup(group)).toBe(some.type === 'gateway');
      expect(consumerOfGroup(group)).toBe(some.type === 'consumer' ? some.namespace : undefined);
    }),
  );
});

it('two groups are the same if their parts are', () => {
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      expect(formatFrontendGroup(a) === formatFrontendGroup(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
    }),
  );
});

it('is written as users see it', () => {
  expect(consumerGroup('shop')).toBe('consumer:shop');
  expect(gatewayGroup('infra/front')).toBe('gateway:infra/front');
});
