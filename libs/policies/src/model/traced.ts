import { isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';

/** A value that is merged as a whole, and its source: a scalar, a list, or an object without fields. */
export interface Leaf<S> {
  readonly value: JsonValue;
  readonly source: S;
}

/** An object with fields. Never changed in place. */
export interface Branch<S> {
  readonly fields: ReadonlyMap<string, Traced<S>>;
}

/** A JSON value in which each part records its source, a policy. */
export type Traced<S> = Leaf<S> | Branch<S>;

export const isBranch = <S>(traced: Traced<S>): traced is Branch<S> => 'fields' in traced;

/** Returns a spec proper traced to its policy, and its number of leaves. Linear in the spec, whose nesting is bounded (`readPolicy`). */
export function tracedSpec<S>(spec: JsonObject, source: S): { readonly root: Branch<S>; readonly leaves: number } {
  let leaves = 0;
  const trace = (value: JsonValue): Traced<S> => {
    if (isJsonObject(value) && Object.keys(value).length > 0) return branch(value);
    leaves += 1;
    return { value, source };
  };
  const branch = (object: JsonObject): Branch<S> => ({
    fields: new Map(
      Object.entries(object).flatMap(([key, value]) => (value === undefined ? [] : [[key, trace(value)]])),
    ),
  });
  return { root: branch(spec), leaves };
}

/**
 * RFC 7386, JSON Merge Patch, of values without null: objects are merged field by field, everything else is replaced
 * (T004-27). Unchanged parts are shared with `target`. Linear in the patch.
 */
export function mergePatch<S>(target: Traced<S>, patch: Traced<S>): Traced<S> {
  if (!isBranch(target)) return patch;
  // An empty object changes no field of an object.
  if (!isBranch(patch)) return isJsonObject(patch.value) ? target : patch;
  const fields = new Map(target.fields);
  for (const [key, value] of patch.fields) {
    const before = fields.get(key);
    fields.set(key, before === undefined ? value : mergePatch(before, value));
  }
  return { fields };
}

/** Returns the plain JSON value. Keys become own fields, also names such as `__proto__`. */
function plainValue(traced: Traced<unknown>): JsonValue {
  return isBranch(traced) ? plainObject(traced) : traced.value;
}

export function plainObject({ fields }: Branch<unknown>): JsonObject {
  return Object.fromEntries([...fields].map(([key, value]): [string, JsonValue] => [key, plainValue(value)]));
}

/** Yields all leaves with their JSON pointers (RFC 6901: `~` is written `~0`, `/` is `~1`), in the order of the fields. */
export function* listLeaves<S>(traced: Traced<S>, at = ''): Generator<readonly [pointer: string, leaf: Leaf<S>]> {
  if (!isBranch(traced)) {
    yield [at, traced];
    return;
  }
  for (const [key, value] of traced.fields) {
    yield* listLeaves(value, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}
