import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { FieldSchema, MessageSchema } from '@causeway/proto-gen';

/** A decoded value: a scalar as number (64-bit ones rounded), boolean or text; bytes and nested messages as raw bytes. */
export type WireValue = number | boolean | string | Uint8Array;

/** A message by field number, in wire order; fields that are missing from the schema are separate. */
export interface WireMessage {
  readonly values: ReadonlyMap<number, readonly WireValue[]>;
  readonly unknown: readonly number[];
}

/** Decodes one message, without its nested messages. Throws if the bytes do not match the schema. */
export function readMessage(schema: MessageSchema, bytes: Uint8Array): WireMessage {
  const reader = new BinaryReader(bytes);
  const values = new Map<number, WireValue[]>();
  const unknown: number[] = [];
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const field = schema.fields[number];
    if (!field) {
      reader.skip(wireType, number);
      unknown.push(number);
      continue;
    }
    const read = readValues(reader, field, wireType);
    const before = values.get(number);
    if (before && field.repeated) before.push(...read);
    else values.set(number, read);
  }
  return { values, unknown };
}

function readValues(reader: BinaryReader, field: FieldSchema, wireType: WireType): WireValue[] {
  const scalar = SCALARS[field.type];
  if (!scalar) return [LENGTH_DELIMITED[field.type]?.(reader) ?? reader.bytes()];
  if (wireType !== WireType.LengthDelimited) return [scalar(reader)];
  const end = reader.uint32() + reader.pos;
  const packed: WireValue[] = [];
  while (reader.pos < end) packed.push(scalar(reader));
  return packed;
}

const LENGTH_DELIMITED: Readonly<Record<string, (reader: BinaryReader) => WireValue>> = {
  string: (reader) => reader.string(true),
};

const SCALARS: Readonly<Record<string, (reader: BinaryReader) => number | boolean>> = {
  double: (reader) => reader.double(),
  float: (reader) => reader.float(),
  int32: (reader) => reader.int32(),
  int64: (reader) => Number(reader.int64()),
  uint32: (reader) => reader.uint32(),
  uint64: (reader) => Number(reader.uint64()),
  sint32: (reader) => reader.sint32(),
  sint64: (reader) => Number(reader.sint64()),
  fixed32: (reader) => reader.fixed32(),
  fixed64: (reader) => Number(reader.fixed64()),
  sfixed32: (reader) => reader.sfixed32(),
  sfixed64: (reader) => Number(reader.sfixed64()),
  bool: (reader) => reader.bool(),
  enum: (reader) => reader.int32(),
};

/** Returns the value of an absent field without presence. */
export function getDefaultValue(type: string): WireValue {
  if (type === 'string') return '';
  if (type === 'bytes') return new Uint8Array();
  return type === 'bool' ? false : 0;
}
