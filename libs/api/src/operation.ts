import { Type, type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import type { verbs } from '@causeway/kinds';
import type { Kind, Registry } from '@causeway/resources';
import type { Frozen } from './schema';

/** The right that an operation requires of its caller. It is decided before query and body are read. */
export type OperationAccess =
  /** No right. */
  | 'public'
  /** Any right: the handler filters its results, or admission checks the write. */
  | 'any-right'
  /** The right to list or watch the kind in the path, in the mesh of the path and the namespace of the query. */
  | 'list'
  /** The role of an administrator. */
  | 'admin'
  /** The right to all of these kinds or activities, in the mesh of the path if it has one. */
  | { readonly verb: (typeof verbs)[number]; readonly kinds: readonly string[] };

/** The audit entry of an operation that changes something and is not a write of a resource. */
export interface Activity {
  /** The kind of resource, or of activity. */
  readonly kind: string;
  readonly activity: string;
  /** The name of its object, if the path does not contain it. */
  readonly name?: string;
}

/** Body of a request. */
export interface OperationBody<B extends TSchema> {
  readonly schema: B;
  readonly example?: unknown;
  /** Whether a missing body counts as an empty object. */
  readonly optional?: boolean;
  /** Media types in the document, if they are not JSON and YAML. */
  readonly types?: readonly string[];
}

/** The successful answer; status 200 unless `status` sets another. */
export interface OperationAnswer<A extends TSchema> {
  readonly description: string;
  readonly schema: A;
  /** The media type, if it is not JSON. */
  readonly type?: string;
  /** Other forms of the same answer, by media type. */
  readonly also?: Readonly<Record<string, TSchema>>;
  /** Headers of the answer. */
  readonly headers?: Readonly<Record<string, ResponseHeader>>;
  /** Other successful statuses, with their descriptions. */
  readonly statuses?: Readonly<Record<number, string>>;
}

/** A header of an answer. */
export interface ResponseHeader {
  readonly description: string;
  readonly schema: TSchema;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Names of the parameters in a path: `mesh` and `name` of `/meshes/{mesh}/meshservices/{name}`. */
export type PathNames<P extends string> = P extends `${string}{${infer N}}${infer R}` ? N | PathNames<R> : never;

/** Fields that all operations have. */
interface OperationParts<P extends string, Q extends TProperties, B extends TSchema, A extends TSchema> {
  readonly method: Method;
  /** In OpenAPI's syntax: `/meshes/{mesh}/_routes`. */
  readonly path: P;
  /** Other paths of the same operation that the document does not show: Kuma's. */
  readonly aliases?: readonly string[];
  readonly description?: string;
  readonly access: OperationAccess;
  /** Parameters of the query; others are refused. */
  readonly query?: Q;
  /** Headers that the operation reads, with their descriptions. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: OperationBody<B>;
  readonly answer: OperationAnswer<A>;
  /** Failure statuses, besides those that every operation has. */
  readonly problems: readonly number[];
  /** The gRPC method with the same effect. */
  readonly grpc?: string;
  /** For a POST: its audit entry; absent if the path determines it; `reads` if it only reads, `itself` if it writes its own entry. */
  readonly audit?: Activity | 'reads' | 'itself';
}

/** Definition of one operation. */
export interface Operation<
  P extends string = string,
  Q extends TProperties = TProperties,
  B extends TSchema = TSchema,
  A extends TSchema = TSchema,
> extends OperationParts<P, Q, B, A> {
  /** The id in the OpenAPI document. */
  readonly id: string;
  readonly summary: string;
}

/**
 * An operation of several kinds, at a path with `{plural}`, whose texts and parameters depend on the kind. For kinds without a mesh the path lacks
 * `/meshes/{mesh}`.
 */
export interface KindOperation<
  P extends string = string,
  Q extends TProperties = TProperties,
  B extends TSchema = TSchema,
  A extends TSchema = TSchema,
> extends Omit<OperationParts<P, never, B, A>, 'query' | 'body'> {
  /** Selects the kinds that have it. */
  readonly kinds: (kind: Kind, registry: Registry) => boolean;
  readonly of: (called: CalledKind) => KindOperationTexts<B>;
  readonly query: (kind: Kind) => Q;
}

/** A kind under its own name or under an alias. */
export interface CalledKind {
  readonly kind: Kind;
  readonly name: string;
  readonly plural: string;
}

/** Fields that depend on the kind. */
interface KindOperationTexts<B extends TSchema> {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly body?: OperationBody<B>;
  /** The answer with the schema of the kind, if the operation has no common one. */
  readonly answer?: OperationAnswer<TSchema>;
}

/** No parameters. */
type None = Record<never, never>;

/** Returns the definition with its literal types. */
export function operation<
  const P extends string,
  Q extends TProperties = None,
  B extends TSchema = never,
  A extends TSchema = TSchema,
>(definition: Operation<P, Q, B, A>): Operation<P, Q, B, A> {
  return definition;
}

/** Returns the definition of an operation of kinds with its literal types. */
export function kindOperation<
  const P extends string,
  Q extends TProperties,
  B extends TSchema = never,
  A extends TSchema = TSchema,
>(definition: KindOperation<P, Q, B, A>): KindOperation<P, Q, B, A> {
  return definition;
}

/** Any definition. */
export type AnyOperation = Operation | KindOperation;

/** The path parameters of an operation; for an operation of kinds the mesh is optional. */
export type PathOf<O> = O extends { readonly kinds: unknown; readonly path: infer P extends string }
  ? { readonly [N in Exclude<PathNames<P>, 'mesh'>]: string } & { readonly mesh?: string | undefined }
  : O extends { readonly path: infer P extends string }
    ? { readonly [N in PathNames<P>]: string }
    : never;

/** The decoded query of an operation; for an operation of kinds the union over kinds. */
export type QueryOf<O> = O extends { readonly query: (kind: Kind) => infer Q extends TProperties }
  ? Frozen<Static<TObject<Required<Q>>>>
  : O extends { readonly query?: infer Q extends TProperties }
    ? Frozen<Static<TObject<Q>>>
    : None;

/** Decoded body of an operation. */
export type BodyOf<O> = O extends { readonly of: (called: CalledKind) => { readonly body?: OperationBody<infer B> } }
  ? ValueOrNone<B>
  : O extends { readonly body?: OperationBody<infer B> }
    ? ValueOrNone<B>
    : undefined;

/** The type of a schema's values; undefined for no schema. */
type ValueOrNone<B extends TSchema> = [B] extends [never] ? undefined : Frozen<Static<B>>;

/** Answer of an operation. */
export type AnswerOf<O> = O extends { readonly answer: OperationAnswer<infer A> } ? Frozen<Static<A>> : never;

/** Returns the schema of an operation's query. */
export function querySchema({ query }: Pick<Operation, 'query'>): TObject {
  return Type.Object(query ?? {}, { additionalProperties: false });
}

/** Returns the path of a request, with its parameters encoded in place. */
export function requestPath(
  { path }: Pick<AnyOperation, 'path'>,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const inScope = parameters['mesh'] === undefined ? withoutMesh(path) : path;
  return inScope.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''));
}

/** Returns the path for kinds without a mesh. */
export function withoutMesh(path: string): string {
  return path.replace('/meshes/{mesh}', '');
}

/** Returns the path of a definition in the syntax of routers: `/meshes/:mesh/hostnames`. */
export function routePath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
