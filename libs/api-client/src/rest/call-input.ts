import type { AnswerOf, AnyOperation, BodyOf, PathOf, QueryOf } from '@causeway/api';

/** A part of a request: omitted if the definition has none, optional if none of its fields is required. */
type InputPart<N extends string, T> = [keyof T] extends [never]
  ? { readonly [K in N]?: undefined }
  : Record<never, never> extends T
    ? { readonly [K in N]?: T }
    : { readonly [K in N]: T };

/** Options of a request outside its definition. */
interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Widens the words of a body to any text: the server knows which it accepts, and lists them when it refuses one. */
export type OpenWords<T> = T extends string
  ? string
  : T extends readonly (infer I)[]
    ? readonly OpenWords<I>[]
    : T extends object
      ? string extends keyof T
        ? T
        : { readonly [K in keyof T]: OpenWords<T[K]> }
      : T;

/** Path parameters, query and body of a request, with the types of its definition. */
type RequestInput<O extends AnyOperation> = InputPart<'path', PathOf<O>> &
  InputPart<'query', QueryOf<O>> &
  (BodyOf<O> extends undefined ? { readonly body?: undefined } : { readonly body: OpenWords<BodyOf<O>> }) &
  RequestOptions;

/** The arguments after the definition in a call: optional for an operation without parameters. */
export type InputArguments<O extends AnyOperation, M = unknown> =
  Record<never, never> extends RequestInput<O> ? [input?: RequestInput<O> & M] : [input: RequestInput<O> & M];

/** Value of a parameter of a query; a map is sent as `name[key]=value`. */
type QueryValue = string | number | boolean | Readonly<Record<string, string>> | undefined;

/** Input of a request of any operation. */
export interface AnyInput extends RequestOptions {
  readonly path?: Readonly<Record<string, string | undefined>> | undefined;
  readonly query?: Readonly<Record<string, QueryValue>> | undefined;
  /** Sent as JSON; a list as JSON lines. */
  readonly body?: unknown;
}

/** Operations whose answers are pages with the address of the next one. */
export type PagedOperation = AnyOperation & {
  readonly answer: { readonly schema: { readonly properties: { readonly items: object; readonly next: object } } };
};

/** The type of a page's items. */
export type ItemOf<O> = AnswerOf<O> extends { readonly items: readonly (infer I)[] } ? I : never;
