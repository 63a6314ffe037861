import { Type, type TSchema } from 'typebox';

/** An object that refuses fields it does not know (design.md §1). */
export const strict = { additionalProperties: false } as const;

/** Longest name of a resource, label value of a peer, host name. */
const LONGEST_NAME = 253;
/** Longest key of a label: a prefix of 253 characters, a slash, a name of 63. */
const LONGEST_KEY = 317;

/** Longest list of ports, endpoints, zones: far above what one service has. */
export const MANY = 1_024;
/** Longest list of other resources that one Dataplane speaks to. */
export const VERY_MANY = 4_096;

/** Bounds of a map whose keys users choose. A key is one line: a map's schema says nothing of other keys. */
export const mapBounds = {
  maxProperties: 128,
  propertyNames: { maxLength: LONGEST_KEY, pattern: '^.*$', title: 'one line' },
} as const;

/** Text of one line that names or describes something; may be empty. */
export const Text = Type.String({ maxLength: 1_024 });

/** String to string, as labels and tags are written. */
export const StringMap = Type.Record(Type.String(), Type.String({ maxLength: LONGEST_NAME }), mapBounds);

/** What another program is to read: any JSON; the kind's bytes bound it. */
export const FreeMap = Type.Record(Type.String(), Type.Unknown(), mapBounds);

/** 1-65535. */
export const PortNumber = Type.Integer({ minimum: 1, maximum: 65535 });

/** Text that says something. */
export const NonEmpty = Type.String({ minLength: 1, maxLength: LONGEST_NAME });

/** The application protocols a port may speak. */
export const protocols = ['tcp', 'http', 'http2', 'grpc', 'kafka'] as const;

/** An object all of whose fields may be left out. */
export const Optionals = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Partial(Type.Object(properties), strict);

/** Durations as people write them here: 500ms, 10s, 5m, 1h. */
export const Duration = Type.String({
  title: 'a duration such as 500ms, 10s, 5m, 1h',
  maxLength: 32,
  pattern: '^[0-9]+(ms|s|m|h)$',
});

/** What another program is to read: a name for the program and anything it understands. */
export const Extension = Type.Object({ type: NonEmpty, config: Type.Optional(Type.Unknown()) }, strict);

/** `labels` is the seed's word, `matchLabels` Kuma's; they mean the same (design.md §4). */
export const ServiceSelector = Type.Object(
  { labels: Type.Optional(StringMap), matchLabels: Type.Optional(StringMap) },
  strict,
);
