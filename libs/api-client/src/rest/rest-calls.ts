import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '@causeway/resources';
import { ApiError } from '../api-error';

/** One request; a list as its body is sent as JSON lines. */
export interface RestRequest {
  readonly method?: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Begins with a slash; relative to the path of the server's address. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: JsonObject;
}

/** The answer to a request; a body that is no JSON object is empty. */
export interface RestAnswer {
  readonly body: JsonObject;
  readonly headers: IncomingHttpHeaders;
}

/** The requests of REST that the gRPC API has no call for: insights, tokens, audit, decisions. Every refusal is an ApiError. */
export interface RestCalls {
  /** The body of an answer. */
  json(request: RestRequest): Promise<JsonObject>;
  /** The body of an answer with its headers. */
  answer(request: RestRequest): Promise<RestAnswer>;
  /** The text of an answer that is not JSON. */
  text(request: RestRequest): Promise<string>;
  /** The lines of an answer that is read while it is made, without their ends; rejects where it is cut off. */
  lines(request: RestRequest): AsyncIterable<string>;
  /** The items of a list, page by page up to the end or up to `most`. */
  items(request: RestRequest & { readonly most?: number }): Promise<readonly JsonObject[]>;
  /** The mesh that the control plane takes where a request names none, for paths; it is asked once, and when it is needed. */
  expectedMesh(): Promise<string>;
}

/** In place of REST's calls where the connection is gRPC's: each says that it needs REST. */
export class NoRestCalls implements RestCalls {
  constructor(private readonly server: URL) {}

  async json({ path }: RestRequest): Promise<JsonObject> {
    throw this.refusal(path);
  }

  async answer({ path }: RestRequest): Promise<RestAnswer> {
    throw this.refusal(path);
  }

  async text({ path }: RestRequest): Promise<string> {
    throw this.refusal(path);
  }

  async *lines({ path }: RestRequest): AsyncGenerator<string> {
    throw this.refusal(path);
  }

  async items({ path }: RestRequest): Promise<readonly JsonObject[]> {
    throw this.refusal(path);
  }

  async expectedMesh(): Promise<string> {
    throw this.refusal('/_resources');
  }

  private refusal(path: string): ApiError {
    const { protocol, host } = this.server;
    return new ApiError(
      'rest-only',
      `${protocol}//${host} is a gRPC address, and only REST answers this (${path.split('?')[0]}): use the http:// or https:// address`,
    );
  }
}
