import type { AnswerOf, Operation } from '@causeway/api';
import { isJsonObject, type JsonValue, type Schema } from '@causeway/resources';
import { ApiError } from '../api-error';
import { findMisfit } from '../check-answer';

/** A response with a typed answer; older servers sent only its text. */
interface AnsweredMessage {
  readonly answer: object | undefined;
  readonly answerJson: string;
}

/** Returns the answer of a call in its REST form: from the message, or from the text of an older server. */
export function readAnswer<O extends Operation>(
  { answer: { schema } }: O,
  { answer, answerJson }: AnsweredMessage,
): AnswerOf<O> {
  const value: unknown = answer === undefined ? JSON.parse(answerJson) : fromMessage(schema, answer);
  const misfit = findMisfit(schema, value);
  if (isAnswer<O>(value, misfit)) return value;
  throw new ApiError('internal', `the server sent an answer that cannot be read: ${misfit}`);
}

/** Reports whether a client can read a value as the answer of an operation: it has no misfit. */
function isAnswer<O extends Operation>(value: unknown, misfit: string | undefined): value is AnswerOf<O> {
  return misfit === undefined;
}

/** Converts a message to JSON; an empty field is omitted if the schema allows that, because messages have empty lists in place of absent ones. */
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

/** Reports whether a value occurs in messages: texts, numbers, flags, null, and the objects of Struct. */
function isJsonValue(value: unknown): value is JsonValue {
  return value === null || ['string', 'number', 'boolean', 'object'].includes(typeof value);
}
