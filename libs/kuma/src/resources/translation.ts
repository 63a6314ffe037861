import { refuseReservedText } from '@causeway/proto-gen';
import type { SealingKeys } from '@causeway/identity';
import { isJsonObject, jsonEqual, type JsonObject, type JsonValue, type Labels } from '@causeway/resources';

/** Modes of MeshServices in a Mesh of Kuma 2.14. */
type MeshServicesMode = 'Disabled' | 'Everywhere' | 'ReachableBackends' | 'Exclusive';

/** Settings of the translation to Kuma. */
export interface KumaOptions {
  /** The mode for a Mesh that sets none; without a mode a Kuma zone generates no MeshServices (docs/design.md §5). */
  readonly meshServicesMode: MeshServicesMode;
  /** Decrypt the keys of mesh authorities, which are stored sealed; without them no such key is sent. */
  readonly sealing?: SealingKeys;
}

/** The translation of one kind to Kuma and back. An absent function is the identity. */
export interface KumaTranslation {
  readonly toKumaSpec?: (spec: JsonObject, options: KumaOptions) => JsonObject;
  readonly fromKumaSpec?: (spec: JsonObject) => JsonObject;
  readonly toKumaStatus?: (status: JsonObject) => JsonObject;
  readonly fromKumaStatus?: (status: JsonObject, labels: Labels) => JsonObject;
  /** Sets the zone of origin in the spec, whatever the zone sent (docs/reference/kds-wire.md §4.4). */
  readonly withOriginZone?: (spec: JsonObject, zone: string) => JsonObject;
  /** Set for kinds whose spec Kuma sends as protobuf (docs/reference/kds-wire.md §3, "P"). */
  readonly proto?: ProtoSpec;
}

/** Encodes a spec as protobuf. Both directions throw on content that the message cannot express. */
export interface ProtoSpec {
  readonly typeUrl: string;
  encode(spec: JsonObject): Uint8Array;
  decode(bytes: Uint8Array): JsonObject;
}

/** The functions of a generated message that `protoSpec` needs. */
export interface SpecCodec<T> {
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
  fromJSON(object: unknown): T;
  toJSON(message: T): unknown;
}

/** The key of the original bytes in a spec whose JSON is incomplete: newer fields, nanoseconds. */
export const PROTO_KEY = '@proto';

/**
 * Returns the codec of a generated message. Content that our JSON lacks is not lost: `decode` keeps the bytes beside the JSON, and `encode` sends
 * them again as long as they decode to the same JSON (docs/design.md §5 "Strict at the door, tolerant on the wire"). `hasMaps: false`: the message
 * has no maps, so no text in it is refused.
 */
export function protoSpec<T>(name: string, message: SpecCodec<T>, { hasMaps = true } = {}): ProtoSpec {
  const read = (bytes: Uint8Array): JsonObject => readObject(message.toJSON(message.decode(bytes)));
  const write = (spec: JsonObject): Uint8Array => message.encode(message.fromJSON(spec)).finish();
  return {
    typeUrl: `type.googleapis.com/${name}`,
    encode: (spec) => originalBytes(spec, read) ?? write(spec),
    decode: (bytes) => {
      if (hasMaps) refuseReservedText('spec', bytes);
      const decoded = message.decode(bytes);
      const json = readObject(message.toJSON(decoded));
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

function readObject(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw new TypeError('spec is not an object');
  return value;
}

/** Maps the values of an object; returns the same object if no value changes. */
export function mapValues(
  object: JsonObject,
  map: (value: JsonValue | undefined) => JsonValue | undefined,
): JsonObject {
  const mapped = Object.entries(object).map(([key, value]) => [key, value, map(value)] as const);
  if (mapped.every(([, before, after]) => before === after)) return object;
  return Object.fromEntries(mapped.map(([key, , after]) => [key, after]));
}
