import { isJsonObject, jsonEqual, type JsonObject } from '@causeway/resources';
import { refuseReservedText } from './reserved-keys';

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
