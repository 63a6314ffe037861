import { Type, type Static, type TObjectOptions, type TProperties, type TSchema } from 'typebox';

/** Makes fields and lists read-only, deeply; maps and documents keep their declared types. */
export type Frozen<T> = T extends readonly (infer I)[]
  ? readonly Frozen<I>[]
  : T extends object
    ? string extends keyof T
      ? T
      : { readonly [K in keyof T as Absent<T, K> extends true ? never : K]: Frozen<T[K]> } & {
          readonly [K in keyof T as Absent<T, K> extends true ? K : never]?: Frozen<T[K]> | undefined;
        }
    : T;

/** True for an optional field; a program may also set it to undefined, which JSON omits. */
type Absent<T, K extends keyof T> = Record<never, never> extends Pick<T, K> ? true : false;

/** The type of the values of a schema. */
export type Value<S extends TSchema> = Frozen<Static<S>>;

/** Options of objects that refuse unknown fields: requests, and answers that are never extended. */
export const strict = { additionalProperties: false } as const;

export const Text = Type.String();
export const Integer = Type.Integer();
export const Flag = Type.Boolean();
export const Time = Type.String({ format: 'date-time' });
export const Count = Type.Integer({ minimum: 0 });
/** Any object of JSON. */
export const AnyObject = Type.Unsafe<object>({ type: 'object' });
export const TextMap = Type.Unsafe<Readonly<Record<string, string>>>({
  type: 'object',
  additionalProperties: { type: 'string' },
});

/** Returns the options of a schema that has a name of its own in the document and is referenced elsewhere. */
export function component<O extends object>(name: string, options?: O): O & { readonly componentName: string } {
  const rest: O | undefined = options;
  return Object.assign({ componentName: name }, rest);
}

/** The mesh of a resource, in a document or a question. */
export const NamedMesh = Type.String({
  description: 'Absent: the mesh that the control plane expects; GET /_resources says its name.',
});

/** The address of the next page, or null on the last one. */
const Next = Type.Unsafe<string | null>({ type: ['string', 'null'] });

/** Returns the schema of an answer `{total, items, next}` over items of a schema, with further fields; `options` name it as a component. */
export function Page<I extends TSchema, M extends TProperties = Record<never, never>>(
  items: I,
  more?: M,
  options: TObjectOptions = {},
) {
  const fields = { total: Integer, items: Type.Array(items), next: Next };
  const all: typeof fields & M = Object.assign(fields, more);
  return Type.Object(all, options);
}
