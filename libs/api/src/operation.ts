import { Type, type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import type { verbs } from '@causeway/kinds';
import type { Kind, Registry } from '@causeway/resources';
import type { Frozen } from './schema';

/** Right that an operation needs of its caller. It is decided before query and body are read. */
export type OperationAccess =
  /** Nothing. */
  | 'public'
  /** Some right, whichever: the handler checks what it finds, or admission what is written. */
  | 'any-right'
  /** The right to list or watch the kind in the path, in the mesh of the path and the namespace of the query. */
  | 'list'
  /** For administrators alone. */
  | 'admin'
  /** The right to all of these kinds or activities, in the mesh of the path if it has one. */
  | { readonly verb: (typeof verbs)[number]; readonly kinds: readonly string[] };

/** Entry of the audit log for an operation that changes something and is no write of a resource. */
export interface Activity {
  /** The kind of resource, or of activity. */
  readonly kind: string;
  readonly activity: string;
  /** The name of what it is done to, where the path does not have it. */
  readonly name?: string;
}

/** Body of a request. */
export interface OperationBody<B extends TSchema> {
  readonly schema: B;
  readonly example?: unknown;
  /** No body counts as an empty object. */
  readonly optional?: boolean;
  /** Media types that the document names, where these are not JSON and YAML. */
  readonly types?: readonly string[];
}

/** Successful answer, 200 unless `status` says otherwise. */
export interface OperationAnswer<A extends TSchema> {
  readonly description: string;
  readonly schema: A;
  /** The media type where it is not JSON. */
  readonly type?: string;
  /** Other forms of the same answer, by media type. */
  readonly also?: Readonly<Record<string, TSchema>>;
  /** Headers of the answer. */
  readonly headers?: Readonly<Record<string, ResponseHeader>>;
  /** Other successful statuses, with what they mean. */
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
  /** In the spelling of OpenAPI: `/meshes/{mesh}/_routes`. */
  readonly path: P;
  /** Other paths of the same operation, which the document does not show: those of Kuma. */
  readonly aliases?: readonly string[];
  readonly description?: string;
  readonly access: OperationAccess;
  /** Parameters of the query; others are refused. */
  readonly query?: Q;
  /** Names of headers that the operation reads, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: OperationBody<B>;
  readonly answer: OperationAnswer<A>;
  /** Statuses of failure, beside those that every operation has. */
  readonly problems: readonly number[];
  /** The method of our gRPC API that does the same. */
  readonly grpc?: string;
  /** Of a POST: its entry in the audit log; absent where the path says it; or that it only reads, or records what it writes itself. */
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
 * Definition of an operation that every kind of some has, at a path with `{plural}`, whose texts and parameters depend on the kind.
 * Of kinds without a mesh the path lacks `/meshes/{mesh}`.
 */
export interface KindOperation<
  P extends string = string,
  Q extends TProperties = TProperties,
  B extends TSchema = TSchema,
  A extends TSchema = TSchema,
> extends Omit<OperationParts<P, never, B, A>, 'query' | 'body'> {
  /** The kinds that have it. */
  readonly kinds: (kind: Kind, registry: Registry) => boolean;
  readonly of: (called: CalledKind) => KindOperationTexts<B>;
  readonly query: (kind: Kind) => Q;
}

/** A kind under its own name, or under an alias. */
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
  /** The answer with the schema of the kind, where that of the operation is one for all. */
  readonly answer?: OperationAnswer<TSchema>;
}

/** An operation of no body, or of no query. */
type None = Record<never, never>;

/** Returns the definition with its types as they are written. */
export function operation<
  const P extends string,
  Q extends TProperties = None,
  B extends TSchema = never,
  A extends TSchema = TSchema,
>(definition: Operation<P, Q, B, A>): Operation<P, Q, B, A> {
  return definition;
}

/** Returns the definition of an operation of kinds with its types as they are written. */
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

/** Parameters in the path of an operation; of an operation of kinds the mesh is absent for kinds without one. */
export type PathOf<O> = O extends { readonly kinds: unknown; readonly path: infer P extends string }
  ? { readonly [N in Exclude<PathNames<P>, 'mesh'>]: string } & { readonly mesh?: string | undefined }
  : O extends { readonly path: infer P extends string }
    ? { readonly [N in PathNames<P>]: string }
    : never;

/** Decoded values of the query of an operation; of an operation of kinds those of any kind. */
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

/** Type of the values of a schema; of none undefined. */
type ValueOrNone<B extends TSchema> = [B] extends [never] ? undefined : Frozen<Static<B>>;

/** Answer of an operation. */
export type AnswerOf<O> = O extends { readonly answer: OperationAnswer<infer A> } ? Frozen<Static<A>> : never;

/** Returns the schema of the query of an operation. */
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

/** Returns the path for kinds that are of no mesh. */
export function withoutMesh(path: string): string {
  return path.replace('/meshes/{mesh}', '');
}

/** Returns the path of a definition as routers spell it: `/meshes/:mesh/hostnames`. */
export function routePath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
