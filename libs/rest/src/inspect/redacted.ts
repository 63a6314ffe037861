import { isJsonArray, isJsonObject, type JsonValue } from '@causeway/resources';

const SECRET_NAME = /(password|passwd|secret|token|private_?key|credential)(?!_?(file|ttl|type))/i;

/**
 * A configuration fit to be shown: values under names that speak of secrets, and passwords inside URLs, become
 * `*****`. Programs redact what they know; this catches what they forgot.
 */
export function redactSecrets(value: JsonValue | undefined, name = ''): JsonValue {
  if (value === undefined || value === null) return null;
  if (isJsonArray(value)) return value.map((item) => redactSecrets(item, name));
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactSecrets(item, key)]));
  if (SECRET_NAME.test(name) && typeof value === 'string' && value !== '') return '*****';
  return typeof value === 'string' ? value.replace(/(\/\/[^/:@\s]*:)[^/@\s]*@/g, '$1*****@') : value;
}
