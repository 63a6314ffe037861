import {
  querySchema,
  type AnswerOf,
  type BodyOf,
  type KindOperation,
  type Operation,
  type QueryOf,
} from '@causeway/api';
import type { CallerRights } from '@causeway/access';
import { compileSchema, FieldPath, Invalid, Violations, type CompiledSchema, type Kind } from '@causeway/resources';
import type { TSchema } from 'typebox';
import { decodeBody } from '../http/body-decode';
import { unreadBody } from '../http/body-parser';
import { badQuery, readQuery, type QueryParameters, type QueryReader } from '../http/query-reader';
import type { Call } from './call';

/** Decoded parts of a request. */
interface Input<O extends Operation, R = undefined> {
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
  /** Result of the operation's own decoding step. */
  readonly more: R;
}

/** Steps of an operation before its handler, in order. */
export interface Steps {
  /** Throws if this control plane does not have the operation, regardless of query and body. */
  readonly check?: () => void;
  /** Throws if the caller lacks a right that depends on the body, before the rest of the body is checked. */
  readonly authorize?: (body: unknown, rights: CallerRights) => void;
  /** Set if the handler reads the body itself: it is large, or not one document. */
  readonly body?: 'unread';
}

/** Result of a handler: the answer, its text, or nothing if it has sent the answer itself. */
type Handled<O extends Operation> = AnswerOf<O> | string | undefined | void;
type Handler<O extends Operation, R> = (call: Call<O['path']>, input: Input<O, R>) => Handled<O> | Promise<Handled<O>>;

/** Serves one operation; returns the answer unless it was already sent. */
export interface Endpoint {
  readonly operation: Operation | KindOperation;
  readonly serve: (call: Call) => unknown;
}

/** Binds a handler to an operation: query and body are checked against the definition before it is called. */
export function endpoint<O extends Operation>(
  operation: O,
  handler: Handler<O, undefined>,
  steps: Steps = {},
): Endpoint {
  return readingEndpoint(operation, () => undefined, handler, steps);
}

/** Like `endpoint`, with `read` for parts of the query that a schema cannot express; violations stay in `query` and are reported with the others. */
export function readingEndpoint<O extends Operation, R>(
  operation: O,
  read: (query: QueryReader, call: Call<O['path']>) => R,
  handler: Handler<O, R>,
  steps: Steps = {},
): Endpoint {
  const parameters = operation.query ?? {};
  const allowedQuery = compileSchema(querySchema(operation));
  const { check, authorize } = steps;
  const takesBody = operation.body !== undefined && steps.body !== 'unread';
  const allowedBody = takesBody ? compileSchema(operation.body.schema) : undefined;
  const readInput = async (call: Call<O['path']>): Promise<Input<O, R>> => {
    const reader = readQuery(call.request, parameters);
    const query = reader.values();
    const more = read(reader, call);
    reader.check();
    const body = takesBody ? await readBody(call, operation.body.optional === true) : undefined;
    authorize?.(body, call.rights);
    if (!fitsDefinition<QueryOf<O>>(query, allowedQuery)) throw badQuery(listViolations(query, allowedQuery).first);
    if (!fitsDefinition<BodyOf<O>>(body, allowedBody)) throw new Invalid(listViolations(body, allowedBody));
    return { query, body, more };
  };
  return {
    operation,
    serve: async (call) => {
      check?.();
      if (steps.body !== 'unread') call.checkDeclaredLength();
      const answer = await handler(call, await readInput(call));
      const { type } = operation.answer;
      if (type !== undefined && !call.reply.hasHeader('content-type')) void call.reply.type(type);
      return answer;
    },
  };
}

/** Reads a small body; an absent optional body is an empty object. */
async function readBody({ request }: Call, optional: boolean): Promise<unknown> {
  const body = unreadBody(request.body);
  const bytes = await body?.read();
  if (optional && (bytes === undefined || bytes.length === 0)) return {};
  return decodeBody(body?.contentType, bytes);
}

function listViolations(value: unknown, schema: CompiledSchema<TSchema> | undefined): Violations {
  const found = new Violations();
  schema?.check(value, FieldPath.at(), found);
  return found;
}

/** True for a value that fits the schema of the definition; false without a schema. */
function fitsDefinition<T>(value: unknown, schema: CompiledSchema<TSchema> | undefined): value is T {
  return schema === undefined ? value === undefined : schema.fits(value);
}

/** Steps of a kind operation after path and query were decoded. */
export type KindSteps<R> = (query: QueryReader, kind: Kind, call: Call<'/meshes/{mesh}/{plural}/{name}'>) => R;

/** Finds the kind in the path of a request. */
export type KindInRequest = (call: Call) => Kind;

/**
 * Binds a handler to an operation of kinds: `read` decodes path and query for the kind, with the definition's
 * parameters; the handler reads the body.
 */
export function kindEndpoint<R>(
  operation: KindOperation,
  findKind: KindInRequest,
  read: KindSteps<R>,
  handler: (call: Call<'/meshes/{mesh}/{plural}/{name}'>, more: R) => unknown,
): Endpoint {
  const parameters = new WeakMap<Kind, QueryParameters>();
  const findParameters = (kind: Kind): QueryParameters => {
    const known = parameters.get(kind) ?? operation.query(kind);
    parameters.set(kind, known);
    return known;
  };
  return {
    operation,
    serve: (call) => {
      call.checkDeclaredLength();
      const kind = findKind(call);
      const reader = readQuery(call.request, findParameters(kind));
      reader.values();
      const more = read(reader, kind, call);
      reader.check();
      return handler(call, more);
    },
  };
}
