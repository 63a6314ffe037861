import { FieldPath, Invalid, isJsonObject, type JsonObject } from '@causeway/resources';
import { decodeBody } from './body-decode';
import { header, type RestRequest } from './rest-request';

/** The body of a call, a small one, that is an object with no other fields than these. Throws 400, 413, 415 and Invalid. */
export function decodeObjectBody(call: RestRequest, fields: readonly string[]): JsonObject {
  const body = decodeBody(header(call, 'content-type'), call.body);
  if (!isJsonObject(body)) throw new Invalid([FieldPath.at().violation('the body must be an object')]);
  const strangers = Object.keys(body).filter((key) => !fields.includes(key));
  if (strangers.length === 0) return body;
  throw new Invalid(
    strangers.map((key) => FieldPath.at(key).violation(`is not a known field; known are ${fields.join(', ')}`)),
  );
}
