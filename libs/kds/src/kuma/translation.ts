import { isJsonObject, jsonEqual, type JsonObject, type JsonValue, type Labels } from '@causeway/resources';
import { refuseReservedText } from './reserved-keys';

/** Modes of MeshServices in a Mesh of Kuma 2.14. */
export type MeshServicesMode = 'Disabled' | 'Everywhere' | 'ReachableBackends' | 'Exclusive';

/** What of Kuma's language depends on our configuration. */
export interface KumaOptions {
  /** Without a mode a Kuma zone generates no MeshService (design.md §5). */
  readonly meshServicesMode: MeshServicesMode;
}

/** How one kind is said to Kuma and understood from it; what is absent is the same in both languages. */
export interface KumaTranslation {
  readonly toKumaSpec?: (spec: JsonObject, options: KumaOptions) => JsonObject;
  readonly fromKumaSpec?: (spec: JsonObject) => JsonObject;
  readonly toKumaStatus?: (status: JsonObject) => JsonObject;
  readonly fromKumaStatus?: (status: JsonObject, labels: Labels) => JsonObject;
  /** What a global writes into the spec about the zone that it came from, whatever the zone said (kds.md §4.4). */
  readonly withOriginZone?: (spec: JsonObject, zone: string) => JsonObject;
  /** Set for kinds whose spec Kuma sends as protobuf (kds.md §3, "P"). */
  readonly proto?: ProtoSpec;
}

/** A spec that crosses the wire as protobuf. Both ways throw on what cannot be said. */
export interface ProtoSpec {
  readonly typeUrl: string;
  encode(spec: JsonObject): Uint8Array;
  decode(bytes: Uint8Array): JsonObject;
}

/** The part of a generated message that a spec needs. */
export interface MessageCodec<T> {
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
  fromJSON(object: unknown): T;
  toJSON(message: T): unknown;
}

/** Where the original bytes stand in a spec whose JSON cannot say all of them: newer fields, nanoseconds. */
export const PROTO_KEY = '@proto';

/**
 * A spec by its generated message. What our JSON does not know is not lost: `decode` then keeps the bytes beside the
 * JSON, and `encode` sends them again as long as the JSON still says what they say (design.md §5 Tolerant on the wire).
 * `hasMaps: false` says that the message has none, so that any text may stand in it.
 */
export function protoSpec<T>(name: string, message: MessageCodec<T>, { hasMaps = true } = {}): ProtoSpec {
  const read = (bytes: Uint8Array): JsonObject => objectOf(message.toJSON(message.decode(bytes)));
  const write = (spec: JsonObject): Uint8Array => message.encode(message.fromJSON(spec)).finish();
  return {
    typeUrl: `type.googleapis.com/${name}`,
    encode: (spec) => originalBytes(spec, read) ?? write(spec),
    decode: (bytes) => {
      if (hasMaps) refuseReservedText('spec', bytes);
      const decoded = message.decode(bytes);
      const json = objectOf(message.toJSON(decoded));
      const complete = Buffer.compare(write(json), message.encode(decoded).finish()) === 0;
      return complete ? json : { ...json, [PROTO_KEY]: Buffer.from(bytes).toString('base64') };
    },
  };
}

function originalBytes(spec: JsonObject, read: (bytes: Uint8Array) => JsonObject): Uint8Array | undefined {
  const { [PROTO_KEY]: kept, ...rest } = spec;
  if (typeof kept !== 'string') return undefined;
  const bytes = Buffer.from(kept, 'base64');
  return jsonEqual(read(bytes), rest) ? bytes : undefined;
}

function objectOf(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw new TypeError('spec is not an object');
  return value;
}

/** The same object when no value changes. */
export function mapValues(
  object: JsonObject,
  map: (value: JsonValue | undefined) => JsonValue | undefined,
): JsonObject {
  const mapped = Object.entries(object).map(([key, value]) => [key, value, map(value)] as const);
  if (mapped.every(([, before, after]) => before === after)) return object;
  return Object.fromEntries(mapped.map(([key, , after]) => [key, after]));
}
