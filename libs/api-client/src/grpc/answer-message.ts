import type { Operation } from '@causeway/api';
import { isJsonObject, type JsonObject, type JsonValue, type Schema } from '@causeway/resources';
import { ApiError } from '../api-error';

/** A response whose answer is a message; servers of before have sent its text alone. */
interface AnsweredMessage {
  readonly answer: object | undefined;
  readonly answerJson: string;
}

/** Returns the answer of a call as REST has it: of the message, or of the text where the server is an older one. */
export function readAnswer({ answer: { schema } }: Operation, { answer, answerJson }: AnsweredMessage): JsonObject {
  const value: unknown = answer === undefined ? JSON.parse(answerJson) : fromMessage(schema, answer);
  if (isJsonObject(value)) return value;
  throw new ApiError('internal', 'the server sent an answer that is no object');
}

/** Converts a message to JSON; a field that it lacks is left out where the schema allows that, because messages have empty lists in place of absent ones. */
function fromMessage(schema: Schema, value: unknown): JsonValue {
  const { properties, required = [], items } = schema;
  if (Array.isArray(value)) return value.map((item: unknown) => fromMessage(items ?? {}, item));
  if (!isJsonObject(value) || properties === undefined) return isJsonValue(value) ? value : null;
  const fields = Object.entries(properties).flatMap(([name, field]): [string, JsonValue][] => {
    const given = value[name];
    const isAbsent = given === undefined || (Array.isArray(given) && given.length === 0);
    return isAbsent && !required.includes(name) ? [] : [[name, fromMessage(field, given)]];
  });
  return Object.fromEntries(fields);
}

/** True for values that a message has: texts, numbers, flags, null, and the objects of Struct. */
function isJsonValue(value: unknown): value is JsonValue {
  return value === null || ['string', 'number', 'boolean', 'object'].includes(typeof value);
}
