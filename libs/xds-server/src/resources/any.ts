import { type Any } from '@causeway/proto-gen';

const PREFIX = 'type.googleapis.com/';

/** A generated message: its full name and its form on the wire. `P` is what it can be made of: any part of it. */
export interface MessageCodec<T, P> {
  readonly $type: string;
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
  fromPartial(object: P): T;
}

/** The URL by which xDS names a type. */
export function formatTypeUrl(type: { readonly $type: string }): string {
  return `${PREFIX}${type.$type}`;
}

/** The bytes of a message; what `message` does not say has its default. Maps are written in the order of their keys' insertion. */
export function encodeMessage<T, P>(type: MessageCodec<T, P>, message: P): Buffer {
  return encodeWhole(type, type.fromPartial(message));
}

/** The bytes of a whole message. */
export function encodeWhole<T>(type: Pick<MessageCodec<T, unknown>, 'encode'>, message: T): Buffer {
  const bytes = type.encode(message).finish();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The message as Any. */
export function pack<T, P>(type: MessageCodec<T, P>, message: P): Any {
  return { typeUrl: formatTypeUrl(type), value: encodeMessage(type, message) };
}

/** The message in `any`; undefined where it is of another type. Throws where the bytes are none of that type. */
export function unpack<T, P>(type: MessageCodec<T, P>, any: Any): T | undefined {
  return any.typeUrl === formatTypeUrl(type) ? type.decode(any.value) : undefined;
}

interface ConfiguredFilter {
  name: string;
  configType: { $case: 'typedConfig'; value: Any };
}

/** A filter or a transport socket. Envoy finds it by its type; the name is for people. */
export function packFilter<T, P>(name: string, type: MessageCodec<T, P>, message: P): ConfiguredFilter {
  return { name, configType: { $case: 'typedConfig', value: pack(type, message) } };
}

/** An extension: a matcher's input or action, a validator. */
export function packExtension<T, P>(
  name: string,
  type: MessageCodec<T, P>,
  message: P,
): { name: string; typedConfig: Any } {
  return { name, typedConfig: pack(type, message) };
}

/** A google.protobuf.Duration of so many ms. */
export function toProtoDuration(ms: number): { seconds: number; nanos: number } {
  return { seconds: Math.trunc(ms / 1_000), nanos: Math.round((ms % 1_000) * 1e6) };
}
