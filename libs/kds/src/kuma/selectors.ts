import { isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';

/** The seed's selectors of services in Kuma's words: `labels` → `matchLabels` (design.md §4, §5). */
export function toKumaSelectors(spec: JsonObject): JsonObject {
  const { selector } = spec;
  if (!isJsonObject(selector)) return spec;
  const said = mapValues(selector, toKumaMatchLabels);
  return said === selector ? spec : { ...spec, selector: said };
}

function toKumaMatchLabels(selector: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(selector) || selector['labels'] === undefined) return selector;
  const { labels, ...rest } = selector;
  return { matchLabels: labels, ...rest };
}

/** The same object when no value changes. */
export function mapValues(
  object: JsonObject,
  map: (value: JsonValue | undefined) => JsonValue | undefined,
): JsonObject {
  const mapped = Object.entries(object).map(([key, value]) => [key, value, map(value)] as const);
  if (mapped.every(([, before, after]) => before === after)) return object;
  return Object.fromEntries(mapped.map(([key, , after]) => [key, after]));
}
