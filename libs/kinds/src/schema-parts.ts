import { Type, type TSchema } from 'typebox';

/** An object that refuses fields it does not know (design.md §1). */
export const strict = { additionalProperties: false } as const;

/** String to string, as labels and tags are written. */
export const StringMap = Type.Record(Type.String(), Type.String());

/** 1-65535. */
export const PortNumber = Type.Integer({ minimum: 1, maximum: 65535 });

/** Text that says something. */
export const NonEmpty = Type.String({ minLength: 1 });

/** The application protocols a port may speak. */
export const protocols = ['tcp', 'http', 'http2', 'grpc', 'kafka'] as const;

/** An object all of whose fields may be left out. */
export const Optionals = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Partial(Type.Object(properties), strict);

/** Durations as people write them here: 500ms, 10s, 5m, 1h. */
export const Duration = Type.String({ title: 'a duration such as 500ms, 10s, 5m, 1h', pattern: '^[0-9]+(ms|s|m|h)$' });

/** What another program is to read: a name for the program and anything it understands. */
export const Extension = Type.Object({ type: NonEmpty, config: Type.Optional(Type.Unknown()) }, strict);

/** `labels` is the seed's word, `matchLabels` Kuma's; they mean the same (design.md §4). */
export const ServiceSelector = Type.Object(
  { labels: Type.Optional(StringMap), matchLabels: Type.Optional(StringMap) },
  strict,
);
