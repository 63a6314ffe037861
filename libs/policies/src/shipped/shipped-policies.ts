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

/** The kinds of policies that every control plane includes. */
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

/** Returns the stored spec of the MetaresourceDefinition of a shipped kind. */
export function shippedDefinition({ read: _, unsupported: __, at: ___, ...declared }: ShippedPolicy): JsonObject {
  const spec = plainJson(declared);
  return { group: SHIPPED_GROUP, ...(isJsonObject(spec) ? spec : {}) };
}

/** Returns the name of that definition. */
export const shippedDefinitionName = ({ plural }: Pick<ShippedPolicy, 'plural'>): string =>
  `${plural}.${SHIPPED_GROUP}`;

const ANY_NAME = '^.*$';

/** Returns a schema as JSON: map values use `additionalProperties`, where TypeBox writes a pattern that matches every name. */
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
