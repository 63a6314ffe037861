import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { listKinds, requestPath, type AnswerOf, type AnyOperation } from '@causeway/api';
import { isJsonArray, isJsonObject } from '@causeway/resources';
import { ApiError } from '../api-error';
import type { AnyInput, InputArguments, ItemOf, PagedOperation } from './call-input';
import { findMisfit } from '../check-answer';

/** One encoded request. */
export interface SentRequest extends Pick<AnyInput, 'query' | 'body' | 'headers' | 'signal'> {
  readonly method?: AnyOperation['method'];
  /** Starts with a slash; relative to the path of the server's address. Of the URL of a next page only path and query are used. */
  readonly path: string;
}

/** Sends requests to one server. Every refusal is an ApiError. */
export interface RestTransport {
  readonly server: URL;
  /** Resolves with a successful response. */
  open(request: SentRequest): Promise<IncomingMessage>;
  /** Reads a whole response. */
  read(response: IncomingMessage): Promise<string>;
  /** Returns the lines of a response, until it ends. */
  lines(response: IncomingMessage): AsyncIterable<string>;
}

/** An answer with its headers. */
interface RestAnswer<T> {
  readonly body: T;
  readonly headers: IncomingHttpHeaders;
}

/** Page size of lists. */
export const PAGE_SIZE = 1_000;

/**
 * Calls the operations of REST by their definitions. Every refusal is an ApiError, and so is an answer that lacks fields which its schema requires.
 */
export class RestCalls {
  private expected: Promise<string> | undefined;

  constructor(private readonly transport: RestTransport) {}

  /** Resolves with the answer; for a list with one page. */
  call<O extends AnyOperation>(operation: O, ...input: InputArguments<O>): Promise<AnswerOf<O>>;
  async call(operation: AnyOperation, input?: AnyInput): Promise<unknown> {
    return (await this.exchange(operation, input)).body;
  }

  /** Resolves with the answer and its headers. */
  answer<O extends AnyOperation>(operation: O, ...input: InputArguments<O>): Promise<RestAnswer<AnswerOf<O>>>;
  answer(operation: AnyOperation, input?: AnyInput): Promise<RestAnswer<unknown>> {
    return this.exchange(operation, input);
  }

  /** Yields the pages of a list, each requested on demand. */
  pages<O extends PagedOperation>(operation: O, ...input: InputArguments<O>): AsyncGenerator<RestAnswer<AnswerOf<O>>>;
  pages(operation: AnyOperation, input?: AnyInput): AsyncGenerator<RestAnswer<unknown>> {
    return this.follow(operation, input);
  }

  /** Yields the items of a list, page by page up to the end or to `most`. */
  items<O extends PagedOperation>(
    operation: O,
    ...input: InputArguments<O, { readonly most?: number }>
  ): Promise<readonly ItemOf<O>[]>;
  async items(
    operation: AnyOperation,
    { most = Infinity, ...input }: AnyInput & { readonly most?: number } = {},
  ): Promise<readonly unknown[]> {
    const found: unknown[] = [];
    const query = { size: Math.min(PAGE_SIZE, most), ...input.query };
    for await (const { body } of this.follow(operation, { ...input, query })) {
      if (isJsonObject(body) && isJsonArray(body['items'])) found.push(...body['items']);
      if (found.length >= most) return found.slice(0, most);
    }
    return found;
  }

  /** Resolves with the text of an answer that is not JSON. */
  text<O extends AnyOperation>(operation: O, ...input: InputArguments<O>): Promise<string>;
  async text(operation: AnyOperation, input?: AnyInput): Promise<string> {
    return this.transport.read(await this.transport.open(toWire(operation, input)));
  }

  /** Yields the lines of a streamed answer, without their ends; rejects if it is cut off. */
  lines<O extends AnyOperation>(operation: O, ...input: InputArguments<O>): AsyncIterable<string>;
  async *lines(operation: AnyOperation, input?: AnyInput): AsyncGenerator<string> {
    yield* this.transport.lines(await this.transport.open(toWire(operation, input)));
  }

  /** Resolves with the mesh that the control plane uses for requests without one, for paths; requested once, on demand. */
  expectedMesh(): Promise<string> {
    this.expected ??= this.call(listKinds).then(({ defaultMesh }) => defaultMesh);
    return this.expected;
  }

  private exchange(operation: AnyOperation, input?: AnyInput): Promise<RestAnswer<unknown>> {
    return this.receive(operation, toWire(operation, input));
  }

  private async *follow(operation: AnyOperation, input?: AnyInput): AsyncGenerator<RestAnswer<unknown>> {
    let page = await this.exchange(operation, input);
    for (;;) {
      yield page;
      const next = isJsonObject(page.body) ? page.body['next'] : undefined;
      if (typeof next !== 'string') return;
      page = await this.receive(operation, { path: next, signal: input?.signal });
    }
  }

  private async receive(operation: AnyOperation, request: SentRequest): Promise<RestAnswer<unknown>> {
    const response = await this.transport.open(request);
    const body = parseJson(await this.transport.read(response));
    const misfit = findMisfit(operation.answer.schema, body);
    if (misfit === undefined) return { body, headers: response.headers };
    const { origin } = this.transport.server;
    const asked = `${operation.method} ${request.path}`;
    throw new ApiError(
      'internal',
      `${origin}: the answer to ${asked} cannot be read: ${misfit}: is it a control plane?`,
    );
  }
}

function toWire(operation: AnyOperation, { path = {}, ...input }: AnyInput = {}): SentRequest {
  return { ...input, method: operation.method, path: requestPath(operation, path) };
}

/** Parses JSON; undefined for other texts. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
