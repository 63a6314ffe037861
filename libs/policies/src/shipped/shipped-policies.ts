import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';
import { AccessPolicy } from './access-policy';
import { CircuitBreakerPolicy } from './circuit-breaker-policy';
import { ColorPolicy } from './color-policy';
import { FaultPolicy } from './fault-policy';
import { HeaderPolicy } from './header-policy';
import { LoadBalancingPolicy } from './load-balancing-policy';
import { RateLimitPolicy } from './rate-limit-policy';
import { RetryPolicy } from './retry-policy';
import { SHIPPED_GROUP, type ShippedPolicy } from './shipped-policy';
import { TimeoutPolicy } from './timeout-policy';

/** The kinds that every control plane brings. */
export const shippedPolicies: readonly ShippedPolicy[] = [
  TimeoutPolicy,
  RetryPolicy,
  FaultPolicy,
  HeaderPolicy,
  CircuitBreakerPolicy,
  LoadBalancingPolicy,
  RateLimitPolicy,
  AccessPolicy,
  ColorPolicy,
];

/** The spec of the MetaresourceDefinition of a kind that is shipped, as it is stored. */
export function shippedDefinition({ read: _, unsupported: __, at: ___, ...declared }: ShippedPolicy): JsonObject {
  const spec = plainJson(declared);
  return { group: SHIPPED_GROUP, ...(isJsonObject(spec) ? spec : {}) };
}

/** The name of that definition. */
export const shippedDefinitionName = ({ plural }: Pick<ShippedPolicy, 'plural'>): string =>
  `${plural}.${SHIPPED_GROUP}`;

const ANY_NAME = '^.*$';

/** A value as JSON: values of maps are `additionalProperties`, where TypeBox writes a pattern that all names fit. */
function plainJson(value: unknown): JsonValue {
  if (isJsonArray(value)) return value.map(plainJson);
  if (!isJsonObject(value)) return isScalar(value) ? value : null;
  const { patternProperties, ...fields } = value;
  const entries = Object.entries(fields).filter(([, inner]) => inner !== undefined);
  const values = isJsonObject(patternProperties) ? patternProperties[ANY_NAME] : undefined;
  return {
    ...Object.fromEntries(entries.map(([key, inner]) => [key, plainJson(inner)])),
    ...(values !== undefined && { additionalProperties: plainJson(values) }),
  };
}

const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
