import type { RegularExpression } from './regular-expression';

/** A request as its client sends it; header names in any case, `path` without the query, `query` decoded, in order. */
export interface HttpRequest {
  readonly protocol: 'http';
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly method: string;
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** A connection, or a datagram for `udp`, of which routing knows only the destination. */
interface TransportConnection {
  readonly protocol: 'tcp' | 'tls' | 'udp';
}

export type Request = HttpRequest | TransportConnection;

/** Maximum number of regular expression steps for one question: some tenths of a second. */
const MAX_STEPS = 20_000_000;

/** Thrown if the regular expressions of a group take more steps for a request than allowed. */
export class TooCostly extends Error {}

/** A request indexed for matching: each lookup takes constant time. */
export class RequestFields {
  private steps = MAX_STEPS;
  private readonly headers = new Map<string, string>();
  private readonly query = new Map<string, string>();
  /** Service and method of a gRPC call; empty if the path does not have two parts. */
  readonly grpc: { readonly service: string; readonly method: string };

  constructor(readonly request: HttpRequest) {
    this.headers.set('host', request.host);
    for (const [name, value] of request.headers) {
      const key = name.toLowerCase();
      const before = key === 'host' ? undefined : this.headers.get(key);
      this.headers.set(key, before === undefined ? value : `${before},${value}`);
    }
    for (const [name, value] of request.query) if (!this.query.has(name)) this.query.set(name, value);
    const [, service = '', method = ''] = /^\/([^/]+)\/([^/]+)$/.exec(request.path) ?? [];
    this.grpc = { service, method };
  }

  /** True for a gRPC call: a POST whose content type begins with `application/grpc`. */
  get isGrpc(): boolean {
    return this.request.method === 'POST' && (this.header('content-type') ?? '').startsWith('application/grpc');
  }

  /** Whether an expression matches a value. Throws TooCostly if all matches so far took too many steps. */
  matches(expression: RegularExpression, value: string): boolean {
    this.steps -= expression.size * (value.length + 1);
    if (this.steps < 0) throw new TooCostly(`the regular expressions there take more than ${MAX_STEPS} steps`);
    return expression.matches(value);
  }

  /** Returns all values of a header, joined by commas; `name` in lower case. */
  header(name: string): string | undefined {
    return this.headers.get(name);
  }

  /** Returns the first value of a query parameter. */
  parameter(name: string): string | undefined {
    return this.query.get(name);
  }
}
