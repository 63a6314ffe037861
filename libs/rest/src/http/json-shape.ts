/** Bounds of the shape of a large body: far more than any document has that a kind takes. */
export const MAX_JSON_SHAPE = { values: 50_000, keys: 5_000 } as const;

/**
 * Why a value has too much in it to be read on the main thread, undefined where it has not. Empty objects and
 * single digits by the hundred thousand take longer than anything else of their size, objects of very many keys too.
 * It does not recurse.
 */
export function jsonShapeViolation(value: unknown): string | undefined {
  const open: unknown[] = [value];
  let values = 0;
  while (open.length > 0) {
    const next = open.pop();
    if (++values > MAX_JSON_SHAPE.values) return `it has more than ${MAX_JSON_SHAPE.values} keys and values`;
    if (typeof next !== 'object' || next === null) continue;
    const inner: unknown[] = Object.values(next);
    if (!Array.isArray(next) && inner.length > MAX_JSON_SHAPE.keys)
      return `an object in it has more than ${MAX_JSON_SHAPE.keys} keys`;
    if (values + open.length + inner.length > MAX_JSON_SHAPE.values)
      return `it has more than ${MAX_JSON_SHAPE.values} keys and values`;
    for (const one of inner) open.push(one);
  }
  return undefined;
}
