import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { Any } from '@causeway/proto-gen';

const PREFIX = 'type.googleapis.com/';
/** Maximum size of a message after which the memory it was written in is kept, bytes. */
const MAX_KEPT_BYTES = 64 * 1024;

/** A generated message type: full name and wire encoding. `P`: the partial message that it can be made from. */
export interface MessageCodec<T, P> {
  readonly $type: string;
  encode(message: T, writer?: BinaryWriter): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
  fromPartial(object: P): T;
}

/** Returns the type URL of a message. */
export function formatTypeUrl(type: { readonly $type: string }): string {
  return `${PREFIX}${type.$type}`;
}

/** Encodes a message; fields that `message` lacks have their defaults. Maps are written in the insertion order of their keys. */
export function encodeMessage<T, P>(type: MessageCodec<T, P>, message: P): Buffer {
  return encodeWhole(type, type.fromPartial(message));
}

/** The memory in which messages are written before they are copied; absent while one is written, and after one that could not be. */
let idleWriter: BinaryWriter | undefined;

/** Encodes a complete message. */
export function encodeWhole<T>(type: Pick<MessageCodec<T, unknown>, 'encode'>, message: T): Buffer {
  const writer = idleWriter ?? new BinaryWriter();
  idleWriter = undefined;
  const bytes = type.encode(message, writer).finish();
  if (bytes.length <= MAX_KEPT_BYTES) idleWriter = writer;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Wraps a message in Any. */
export function pack<T, P>(type: MessageCodec<T, P>, message: P): Any {
  return { typeUrl: formatTypeUrl(type), value: encodeMessage(type, message) };
}

/** Returns the message in `any`; undefined if it has another type. Throws if the bytes are malformed. */
export function unpack<T, P>(type: MessageCodec<T, P>, any: Any): T | undefined {
  return any.typeUrl === formatTypeUrl(type) ? type.decode(any.value) : undefined;
}

interface ConfiguredFilter {
  name: string;
  configType: { $case: 'typedConfig'; value: Any };
}

/** Returns a filter or a transport socket. Envoy selects it by its type; the name is for people. */
export function packFilter<T, P>(name: string, type: MessageCodec<T, P>, message: P): ConfiguredFilter {
  return { name, configType: { $case: 'typedConfig', value: pack(type, message) } };
}

/** Returns an extension: a matcher's input or action, or a validator. */
export function packExtension<T, P>(
  name: string,
  type: MessageCodec<T, P>,
  message: P,
): { name: string; typedConfig: Any } {
  return { name, typedConfig: pack(type, message) };
}

/** Returns a google.protobuf.Duration of this number of ms. */
export function toProtoDuration(ms: number): { seconds: number; nanos: number } {
  return { seconds: Math.trunc(ms / 1_000), nanos: Math.round((ms % 1_000) * 1e6) };
}
