import { isJsonObject, ownField, type JsonObject, type JsonValue } from '@causeway/resources';

/** RFC 7386: `null` removes, objects merge, everything else replaces. */
export function mergePatch(target: JsonValue | undefined, patch: JsonObject): JsonObject {
  const base = isJsonObject(target) ? target : {};
  const kept = Object.entries(base).filter(([key]) => !Object.hasOwn(patch, key));
  const changed = Object.entries(patch).flatMap(([key, value]): [string, JsonValue][] => {
    if (value === null || value === undefined) return [];
    return [[key, isJsonObject(value) ? mergePatch(ownField(base, key), value) : value]];
  });
  return Object.fromEntries([...kept, ...changed]);
}
