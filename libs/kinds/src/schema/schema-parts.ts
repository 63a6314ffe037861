import { Type, type TSchema } from 'typebox';

/** Options of objects that refuse unknown fields (docs/design.md §1). */
export const strict = { additionalProperties: false } as const;

/** Maximum length of a resource name, a peer's label value, and a host name. */
export const MAX_NAME_LENGTH = 253;
/** Maximum length of the key of a label: a prefix of 253 characters, a slash, a name of 63. */
const MAX_KEY_LENGTH = 317;

/** Maximum length of a list of ports, endpoints or zones; far more than one service has. */
export const MAX_ITEMS = 1_024;
/** Maximum length of the list of resources to which one Dataplane connects. */
export const MAX_REFERENCES = 4_096;

/** Bounds of a map with keys that users choose. A key is one line, because the schema of a map cannot check other keys. */
export const mapBounds = {
  maxProperties: 128,
  propertyNames: { maxLength: MAX_KEY_LENGTH, pattern: '^.*$', title: 'one line' },
} as const;

/** One line of text; may be empty. */
export const Text = Type.String({ maxLength: 1_024 });

/** Map of texts, as labels and tags are written. */
export const StringMap = Type.Record(Type.String(), Type.String({ maxLength: MAX_NAME_LENGTH }), mapBounds);

/** Any JSON, for other programs; limited only by the maximum size of the kind, in bytes. */
export const FreeMap = Type.Record(Type.String(), Type.Unknown(), mapBounds);

/** Port number from 1 to 65535. */
export const PortNumber = Type.Integer({ minimum: 1, maximum: 65535 });

/** Text that is not empty. */
export const NonEmpty = Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH });

/** Application protocols of a port. */
export const protocols = ['tcp', 'http', 'http2', 'grpc', 'kafka'] as const;

/** Returns the schema of an object in which every field is optional. */
export const Optionals = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Partial(Type.Object(properties), strict);

/** A duration such as 500ms, 10s, 5m, 1h. */
export const Duration = Type.String({
  title: 'a duration such as 500ms, 10s, 5m, 1h',
  maxLength: 32,
  pattern: '^[0-9]+(ms|s|m|h)$',
});

/** A duration in Go's format: 24h, 1h30m, 24h0m0s. */
export const GoDuration = Type.String({
  title: 'a duration such as 24h, 1h30m, 10s',
  maxLength: 32,
  pattern: '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$',
});

/** Certificates or one key in PEM, or a bundle of certificates. */
export const Pem = Type.String({ minLength: 1, maxLength: 128 * 1024 });

/** An extension: the name of the program that uses it, and any JSON. */
export const Extension = Type.Object({ type: NonEmpty, config: Type.Optional(Type.Unknown()) }, strict);

/** `labels` (seed 001) and `matchLabels` (Kuma) mean the same (docs/design.md §4). */
export const ServiceSelector = Type.Object(
  { labels: Type.Optional(StringMap), matchLabels: Type.Optional(StringMap) },
  strict,
);

const Expression = Type.Object(
  {
    key: NonEmpty,
    operator: Type.Enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
    values: Type.Optional(Type.Array(Text, { maxItems: MAX_ITEMS })),
  },
  strict,
);

/** Selector with the semantics of Kubernetes; `selectorViolations` checks the expressions. An empty one selects everything. */
export const Selector = Type.Object(
  {
    matchLabels: Type.Optional(StringMap),
    matchExpressions: Type.Optional(Type.Array(Expression, { maxItems: 128 })),
  },
  strict,
);
