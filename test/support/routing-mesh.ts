import {
  explain,
  parentStatuses,
  BindingTable,
  type Explanation,
  type RequestOutcome,
  type RouteQuestion,
  type Request,
  type RouteKind,
  type RouteSpec,
  type Service,
} from '@causeway/routing';
import { evaluate, type Decision, type HttpRequest } from '@causeway/routing/testing';
import { identityKey, type Identity } from '@causeway/resources';

const PORTS = [
  { port: 80, name: 'http' },
  { port: 8080, name: 'http-alt' },
  { port: 443, name: 'https' },
  { port: 9090, name: 'tcp' },
  { port: 7070, name: 'grpc' },
];

/** A caller and its request: by default namespace `mesh` sends `GET /` to `echo:80` of namespace `mesh`. */
export interface Asked {
  readonly from?: string;
  readonly to?: string;
  readonly namespace?: string;
  readonly port?: number;
  readonly method?: string;
  readonly host?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocol?: 'tcp' | 'tls' | 'udp';
}

/** An HTTP request as tests write it: path and query in one text. */
export function httpRequest({ method = 'GET', host = 'echo', url = '/', headers = {} }: Asked): HttpRequest {
  const { pathname, searchParams } = new URL(`http://${host}${url}`);
  const path = url.includes('?') ? pathname : url;
  return {
    protocol: 'http',
    scheme: 'http',
    host,
    method,
    path,
    query: [...searchParams],
    headers: Object.entries(headers),
  };
}

/** Routes and services as tests write them, and the answers in a few words. */
export class RoutingMesh {
  readonly table: BindingTable;
  /** `namespace/name` of the services without a ready endpoint. */
  readonly notReady = new Set<string>();
  private order = 0;

  constructor({ zone = '' }: { readonly zone?: string } = {}) {
    this.table = new BindingTable({ zone });
  }

  /** The fixture of the conformance tests: `echo`, `echo-v1` and `echo-v2` in namespace `mesh`. */
  static echo(): RoutingMesh {
    const mesh = new RoutingMesh();
    for (const name of ['echo', 'echo-v1', 'echo-v2']) mesh.service(name);
    return mesh;
  }

  service(
    name: string,
    given: Partial<Service> & { readonly namespace?: string; readonly zone?: string } = {},
  ): Service {
    const { namespace = 'mesh', zone = '', ...rest } = given;
    const id = { kind: 'MeshService', mesh: 'default', zone, namespace, name };
    const service = { id, displayName: name, ports: PORTS, headless: false, ...rest };
    this.table.putService(service);
    return service;
  }

  /** Puts a route, younger than all before unless `order` is given. */
  route(
    kind: RouteKind,
    name: string,
    spec: RouteSpec,
    given: {
      readonly namespace?: string;
      readonly zone?: string;
      readonly order?: number;
      readonly implicit?: boolean;
    } = {},
  ): Identity {
    const { namespace = 'mesh', zone = '', order = ++this.order, implicit = false } = given;
    const id = { kind, mesh: 'default', zone, namespace, name };
    this.table.putRoute({ id, creationOrder: order, generation: 1, implicit, spec });
    return id;
  }

  question({ from = 'mesh', to = 'echo', namespace = 'mesh', port = 80, ...asked }: Asked): RouteQuestion {
    const frontend = this.table.frontend({ kind: 'MeshService', mesh: 'default', zone: '', namespace, name: to });
    if (!frontend) throw new Error(`there is no service ${namespace}/${to}`);
    const request: Request = asked.protocol ? { protocol: asked.protocol } : httpRequest(asked);
    return { client: { namespace: from }, frontend, port, request };
  }

  decide(asked: Asked = {}): Decision {
    return evaluate(this.table, this.question(asked), this.isReady);
  }

  explain(asked: Asked = {}): Explanation {
    return explain(this.table, this.question(asked), this.isReady);
  }

  /** The answer in words: `echo-v1`, `echo-v1 0.7, echo-v2 0.3`, `404`, `302 http://…`, `implicit echo`. */
  answer(asked: Asked = {}): string {
    return wordsOf(this.decide(asked).outcome);
  }

  /** The request as the first backend gets it. */
  forwarded(asked: Asked): HttpRequest | undefined {
    const { outcome } = this.decide(asked);
    const result = 'shares' in outcome ? outcome.shares[0]?.result : undefined;
    return result?.type === 'forwarded' ? result.request : undefined;
  }

  /** `type=status/reason` of each condition, one list for each status entry. */
  conditions(id: Identity): string[][] {
    const route = this.table.route(identityKey(id));
    return route
      ? parentStatuses(this.table, route).map(({ conditions }) =>
          conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`),
        )
      : [];
  }

  /** The messages of all conditions. */
  messages(id: Identity): string {
    const route = this.table.route(identityKey(id));
    const entries = route ? parentStatuses(this.table, route) : [];
    return entries.flatMap(({ conditions }) => conditions.map(({ message }) => message)).join(' | ');
  }

  private readonly isReady = ({ namespace, name }: Identity): boolean => !this.notReady.has(`${namespace}/${name}`);
}

function wordsOf(outcome: RequestOutcome): string {
  if (outcome.type === 'refused') return refusedText(outcome);
  if (outcome.type === 'redirected') return `${outcome.statusCode} ${outcome.location}`;
  const shares = outcome.shares.map(({ weight, total, result }) => {
    const to =
      result.type === 'refused' ? refusedText(result) : result.destination.services.map(({ name }) => name).join('+');
    return weight === total ? to : `${to} ${weight / total}`;
  });
  return `${outcome.type === 'implicit' ? 'implicit ' : ''}${shares.join(', ')}`;
}

const refusedText = ({ status, grpcStatus }: { readonly status: number; readonly grpcStatus?: number }): string =>
  grpcStatus === undefined ? String(status) : `grpc ${grpcStatus}`;
