import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import type { BadRequest_FieldViolation as FieldViolation } from './gen/google/rpc/error_details';

/** `reason`, field 3, a text: google/rpc/error_details.proto has it, the older copy that we generate from does not. */
const REASON = (3 << 3) | 2;

/** A violation with the code of its rule in `google.rpc.BadRequest.FieldViolation.reason`. */
export function fieldViolation(field: string, description: string, reason: string): FieldViolation {
  return { field, description, _unknownFields: { [REASON]: [new BinaryWriter().string(reason).finish()] } };
}

/** The `reason` of a violation; empty where it has none. Throws for bytes that are no text. */
export function reasonOf({ _unknownFields: fields = {} }: FieldViolation): string {
  const bytes = fields[REASON]?.at(-1);
  return bytes ? new BinaryReader(bytes).string() : '';
}
