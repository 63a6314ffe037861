import { Type, type TSchema } from 'typebox';

/** For objects that refuse unknown fields. */
export const strict = { additionalProperties: false } as const;

/** Returns the schema of an object with optional fields. */
export const Optionals = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Partial(Type.Object(properties), strict);

/** A duration in GEP-2257 format; at most four parts of five digits each. */
export const Duration = Type.String({
  title: 'a duration such as 500ms, 10s, 1h30m',
  maxLength: 32,
  pattern: '^([0-9]{1,5}(h|m|s|ms)){1,4}$',
});

/** A percentage of requests with four decimals: Envoy draws by the millionth. */
export const Percent = Type.Number({ minimum: 0, maximum: 100, multipleOf: 0.0001 });

/** A duration with one unit, above zero and at most a day. */
export const Period = Type.String({
  title: 'a duration from 100ms to 24h in one unit, such as 500ms, 10s, 1h',
  maxLength: 7,
  pattern: '^([1-9][0-9]{2,4}ms|[1-9][0-9]{0,3}s|[1-9][0-9]{0,2}m|([1-9]|1[0-9]|2[0-4])h)$',
});
