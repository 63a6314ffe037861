import { Type, type TSchema } from 'typebox';

/** For objects that refuse unknown fields. */
export const strict = { additionalProperties: false } as const;

/** An object all of whose fields may be left out. */
export const Optionals = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Partial(Type.Object(properties), strict);

/** A duration as GEP-2257 writes it; at most four parts of five digits each. */
export const Duration = Type.String({
  title: 'a duration such as 500ms, 10s, 1h30m',
  maxLength: 32,
  pattern: '^([0-9]{1,5}(h|m|s|ms)){1,4}$',
});

/** A part of all requests in percent, to the fourth decimal: Envoy draws by the millionth. */
export const Percent = Type.Number({ minimum: 0, maximum: 100, multipleOf: 0.0001 });
