import { isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';

/** Effective policies of a path, by the naive fold. */
export interface NaivePath {
  /** The policies on it, the least specific first. */
  readonly policies: readonly NaivePolicy[];
  readonly spec: JsonObject;
  /** By JSON pointer the name of the policy that set a value. */
  readonly sources: ReadonlyMap<string, string>;
}

export interface NaivePolicy {
  readonly key: string;
  readonly isOverride: boolean;
  readonly isPatch: boolean;
  /** The spec proper. */
  readonly body: JsonObject;
}

export const object = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** A value and whose it is; an object with fields has those of its fields. */
type Owned = { readonly value: JsonValue; readonly by: string } | { readonly fields: Readonly<Record<string, Owned>> };

function owned(value: JsonValue, by: string): Owned {
  const entries = Object.entries(object(value));
  if (entries.length === 0) return { value, by };
  return { fields: Object.fromEntries(entries.map(([key, each]) => [key, owned(each ?? null, by)])) };
}

/** RFC 7386 of values without null. */
function patched(target: Owned | undefined, patch: Owned): Owned {
  if (!target || !('fields' in target)) return patch;
  if (!('fields' in patch)) return isJsonObject(patch.value) ? target : patch;
  const fields: Record<string, Owned> = { ...target.fields };
  for (const [key, value] of Object.entries(patch.fields)) fields[key] = patched(fields[key], value);
  return { fields };
}

/** Folds the most specific policy with each less specific one: the less specific one decides how (2.1 B). */
export function folded(policies: readonly NaivePolicy[]): NaivePath {
  const last = policies[policies.length - 1];
  let result = owned(last?.body ?? {}, last?.key ?? '');
  for (const { key, body, isOverride, isPatch } of policies.slice(0, -1).reverse()) {
    const own = owned(body, key);
    if (isPatch) result = isOverride ? patched(result, own) : patched(own, result);
    else if (isOverride) result = own;
  }
  const sources = new Map<string, string>();
  const read = (at: string, one: Owned): JsonValue => {
    if (!('fields' in one)) {
      sources.set(at, one.by);
      return one.value;
    }
    const pointer = (key: string): string => `${at}/${key.split('~').join('~0').split('/').join('~1')}`;
    return Object.fromEntries(Object.entries(one.fields).map(([key, each]) => [key, read(pointer(key), each)]));
  };
  return { policies, spec: object(read('', result)), sources };
}
