import {
  explainRequest,
  listRoutesOfService,
  type HostnameClaim,
  type HostnameExplanation,
  type RequestAnswer,
  type ResolvedHostname,
  type ServiceRoutes,
} from '@causeway/api';
import {
  ApplyOutcome,
  NamingServiceClient,
  ResourceServiceClient,
  RoutingServiceClient,
  SelectionMessage,
  type ApplyResponse,
  type ApplyResult as ApplyResultMessage,
  type Claim,
  type Endpoint as EndpointMessage,
  type ExplainRequestResponse,
  type ExplainResponse,
  type ResolveResponse,
  type ListResponse,
  type ListRoutesResponse,
  type ResourceIdentity,
  type ResourceName,
  type WatchResponse,
} from '@causeway/proto-gen';
import { isJsonObject, type JsonObject } from '@causeway/resources';
import { credentials, Metadata, type ChannelCredentials, type ServiceError } from '@grpc/grpc-js';
import type {
  ApiClient,
  ApplyOptions,
  DeleteOptions,
  ApplyResult,
  ApplySummary,
  Connection,
  HostnameQuestion,
  ReadOptions,
  RequestExplanationQuestion,
  ResourceId,
  ResourceList,
  ResourceRef,
  ResourceSelection,
  RoutesOfServiceQuestion,
  StoredResource,
  WatchEvent,
  WatchOptions,
} from '../api-client';
import { ApiError } from '../api-error';
import { RefusingRestTransport } from '../rest/refusing-rest-transport';
import { RestCalls } from '../rest/rest-calls';
import { resumingWatch } from '../resuming-watch';
import { readAnswer } from './answer-message';
import { toApiError, statusToApiError } from './grpc-error';

/** Maximum number of characters of documents in one message of an apply; the limit of a message is 4 MiB. */
const MESSAGE = 1024 * 1024;

/** Timeout of a unary call, ms. */
const DEADLINE = 30_000;

const OPTIONS = {
  'grpc.max_receive_message_length': 16 * 1024 * 1024,
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // Retries a broken connection as soon as REST does.
  'grpc.initial_reconnect_backoff_ms': 50,
  'grpc.max_reconnect_backoff_ms': 5_000,
};

const OUTCOMES = {
  [ApplyOutcome.APPLY_OUTCOME_UNSPECIFIED]: 'refused',
  [ApplyOutcome.APPLY_OUTCOME_CREATED]: 'created',
  [ApplyOutcome.APPLY_OUTCOME_UPDATED]: 'updated',
  [ApplyOutcome.APPLY_OUTCOME_UNCHANGED]: 'unchanged',
  [ApplyOutcome.APPLY_OUTCOME_REFUSED]: 'refused',
  [ApplyOutcome.APPLY_OUTCOME_SKIPPED]: 'skipped',
} as const;

/** A client over gRPC. */
export class GrpcApiClient implements ApiClient {
  readonly server: URL;
  readonly rest: RestCalls;
  private readonly resources: ResourceServiceClient;
  private readonly naming: NamingServiceClient;
  private readonly routing: RoutingServiceClient;
  private readonly metadata = new Metadata();

  constructor(private readonly connection: Connection) {
    const { server, token } = connection;
    this.server = server;
    this.rest = new RestCalls(new RefusingRestTransport(server));
    const address = `${server.hostname}:${server.port || '5682'}`;
    this.resources = new ResourceServiceClient(address, readCredentials(connection), OPTIONS);
    this.naming = new NamingServiceClient(address, readCredentials(connection), OPTIONS);
    this.routing = new RoutingServiceClient(address, readCredentials(connection), OPTIONS);
    if (token !== undefined) this.metadata.set('authorization', `Bearer ${token}`);
  }

  async get(resource: ResourceRef, { minRevision = 0, signal }: ReadOptions = {}): Promise<StoredResource> {
    const request = { name: nameMessage(resource), minRevision };
    const { resource: found } = await this.unary<{ resource: ListResponse['resources'][number] | undefined }>(
      (done) => this.resources.get(request, this.metadata, deadline(), done),
      signal,
    );
    if (!found) throw new ApiError('internal', 'the answer has no resource');
    return { document: parseDocument(found.json), etag: found.etag, revision: found.revision };
  }

  async list(selection: ResourceSelection, options: ReadOptions = {}): Promise<ResourceList> {
    const { minRevision = 0, most = Infinity, signal } = options;
    const documents: JsonObject[] = [];
    let head = { revision: 0, resumeToken: '' };
    const call = this.resources.list({ selection: selectionMessage(selection), minRevision }, this.metadata);
    for await (const { resources, revision, resumeToken } of this.messages<ListResponse>(call, signal)) {
      head = { revision, resumeToken };
      for (const { json } of resources) documents.push(parseDocument(json));
      if (documents.length >= most) break;
    }
    return { documents: documents.slice(0, most), ...head };
  }

  watch(selection: ResourceSelection, options: WatchOptions): AsyncIterable<WatchEvent> {
    return resumingWatch((token, signal) => this.watchOnce(selection, token, signal), options);
  }

  apply(documents: readonly unknown[], options: ApplyOptions = {}): Promise<ApplySummary> {
    return this.applyIf('', documents, options);
  }

  async replace(
    resource: ResourceRef,
    document: JsonObject,
    { etag = '', dryRun = false }: Omit<DeleteOptions, 'terminate' | 'force'> = {},
  ): Promise<Pick<ApplyResult, 'outcome' | 'warnings'>> {
    for (const [field, named] of [['type', resource.kind] as const, ['name', resource.name] as const]) {
      if (document[field] === named) continue;
      const reason = `must be ${JSON.stringify(named)}: the document names another resource`;
      throw new ApiError('invalid', 'the document names another resource', [{ field, reason, rule: 'invalid' }]);
    }
    const { mesh = '' } = resource;
    const complete = mesh === '' ? document : { mesh, ...document };
    // The server accepts no etag with a dry run.
    if (dryRun && etag !== '' && (await this.get(resource)).etag !== etag)
      throw new ApiError('precondition-failed', 'the resource was changed meanwhile', [], {
        title: 'Precondition failed',
      });
    const [result] = (await this.applyIf(dryRun ? '' : etag, [complete], { dryRun })).results;
    if (!result) throw new ApiError('internal', 'the answer has no result');
    if (result.error) throw result.error;
    return result;
  }

  private async applyIf(etag: string, documents: readonly unknown[], options: ApplyOptions): Promise<ApplySummary> {
    const { atomic = false, dryRun = false, mesh = '', signal, progress, result } = options;
    const call = this.resources.apply(this.metadata);
    const head = { atomic, dryRun, mesh, etag };
    for (const chunk of splitChunks(documents.map((one) => JSON.stringify(one))))
      call.write({ ...head, documents: chunk.map((json) => ({ json })) });
    call.end();
    const results: ApplyResult[] = [];
    let last = 0;
    for await (const { results: more, progress: latest, revision } of this.messages<ApplyResponse>(call, signal)) {
      for (const found of more.map(toResult)) {
        results.push(found);
        result?.(found);
      }
      if (latest) progress?.(latest);
      last = revision;
    }
    return { results, revision: last };
  }

  async delete(
    resource: ResourceRef,
    { etag = '', dryRun = false, terminate = false, force = false }: DeleteOptions = {},
  ): Promise<readonly string[]> {
    const request = { name: nameMessage(resource), etag, dryRun, terminate, force };
    const { warnings } = await this.unary<{ warnings: string[] }>((done) =>
      this.resources.delete(request, this.metadata, deadline(), done),
    );
    return warnings;
  }

  async resolve({ hostname, mesh = '', zone = '' }: HostnameQuestion): Promise<ResolvedHostname> {
    const request = { hostname, mesh, zone, minRevision: 0 };
    const { service, endpoints, ports, ...found } = await this.unary<ResolveResponse>((done) =>
      this.naming.resolve(request, this.metadata, deadline(), done),
    );
    return {
      hostname: found.hostname,
      zone: found.zone,
      service: toId(service),
      virtualIps: found.virtualIps,
      ports: ports.map(({ port, name, appProtocol }) => ({ port, name, appProtocol })),
      endpoints: endpoints.map(toEndpoint),
    };
  }

  async explain({ hostname, mesh = '', zone = '' }: HostnameQuestion): Promise<HostnameExplanation> {
    const request = { hostname, mesh, zone, minRevision: 0 };
    const explained = await this.unary<ExplainResponse>((done) =>
      this.naming.explain(request, this.metadata, deadline(), done),
    );
    const claims = explained.claims.map(toClaim);
    const [winner] = claims;
    const { note } = explained;
    return {
      hostname: explained.hostname,
      mesh: explained.mesh,
      zone: explained.zone,
      ...(winner ? { winner } : {}),
      claims,
      hints: explained.hints,
      ...(note === '' ? {} : { note }),
    };
  }

  async explainRequest({ mesh = '', zone = '', question }: RequestExplanationQuestion): Promise<RequestAnswer> {
    const request = { mesh, zone, questionJson: JSON.stringify(question) };
    const response = await this.unary<ExplainRequestResponse>((done) =>
      this.routing.explainRequest(request, this.metadata, deadline(), done),
    );
    return readAnswer(explainRequest, response);
  }

  async routesOf(question: RoutesOfServiceQuestion): Promise<ServiceRoutes> {
    const { mesh = '', zone = '', kind = '', namespace = '', service, port = 0, client = '' } = question;
    const request = { mesh, zone, kind, namespace, service, port, client, minRevision: 0 };
    const response = await this.unary<ListRoutesResponse>((done) =>
      this.routing.listRoutes(request, this.metadata, deadline(), done),
    );
    return readAnswer(listRoutesOfService, response);
  }

  close(): void {
    this.resources.close();
    this.naming.close();
    this.routing.close();
  }

  private async *watchOnce(
    selection: ResourceSelection,
    resumeToken = '',
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent> {
    const request = { selection: selectionMessage(selection), resumeToken, minRevision: 0 };
    for await (const { event } of this.messages<WatchResponse>(this.resources.watch(request, this.metadata), signal)) {
      if (event?.$case === 'put') yield { type: 'put', document: parseDocument(event.value.json) };
      else if (event?.$case === 'deleted') yield { type: 'deleted', id: toId(event.value) };
      else if (event) yield { type: 'bookmark', ...event.value };
    }
  }

  private unary<A>(
    call: (done: (error: ServiceError | null, answer: A) => void) => Cancelable,
    signal = this.connection.signal,
  ): Promise<A> {
    return new Promise((resolve, reject) => {
      const pending = call((error, answer) => {
        signal?.removeEventListener('abort', cancel);
        if (error) reject(toApiError(this.server, error));
        else resolve(answer);
      });
      const cancel = (): void => pending.cancel();
      if (signal?.aborted) cancel();
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  /** Yields the messages of a call; cancels it when `signal` aborts or the reader stops. Throws ApiError. */
  private async *messages<T>(
    call: AsyncIterable<T> & Cancelable & { on(event: 'error', listener: () => void): unknown },
    signal = this.connection.signal,
  ): AsyncGenerator<T> {
    const cancel = (): void => call.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    // Also handles an error that arrives after the reader has stopped.
    call.on('error', () => undefined);
    try {
      yield* call;
    } catch (error) {
      throw toApiError(this.server, error);
    } finally {
      signal?.removeEventListener('abort', cancel);
      cancel();
    }
  }
}

interface Cancelable {
  cancel(): void;
}

function readCredentials({ server, ca, insecure = false }: Connection): ChannelCredentials {
  if (server.protocol === 'grpc:') return credentials.createInsecure();
  const roots = ca === undefined ? null : Buffer.from(ca);
  return credentials.createSsl(roots, null, null, insecure ? { rejectUnauthorized: false } : {});
}

function deadline(): { readonly deadline: number } {
  return { deadline: Date.now() + DEADLINE };
}

function* splitChunks(texts: readonly string[]): Generator<readonly string[]> {
  let chunk: string[] = [];
  let length = 0;
  for (const text of texts) {
    if (chunk.length > 0 && length + text.length > MESSAGE) {
      yield chunk;
      [chunk, length] = [[], 0];
    }
    chunk.push(text);
    length += text.length;
  }
  yield chunk;
}

function nameMessage({ kind, mesh = '', namespace = '', zone, name }: ResourceRef): ResourceName {
  return { kind, mesh, namespace, name, ...(zone === undefined ? {} : { zone }) };
}

function selectionMessage(selection: ResourceSelection): SelectionMessage {
  return SelectionMessage.fromPartial({ ...selection, expectedMesh: selection.mesh === '' });
}

function toEndpoint({
  address,
  port,
  servicePort,
  ready,
  dataplane,
}: EndpointMessage): ResolvedHostname['endpoints'][number] {
  return {
    address,
    port,
    ready,
    ...(servicePort === 0 ? {} : { servicePort }),
    ...(dataplane ? { dataplane: toId(dataplane) } : {}),
  };
}

/** Returns a claim in its REST form, without empty texts. */
function toClaim(
  { service, generator, generatorZone, available, rule, reason, change }: Claim,
  i: number,
): HostnameClaim {
  return {
    rank: i + 1,
    service: toId(service),
    generator: { name: generator, ...(generatorZone === undefined ? {} : { zone: generatorZone }) },
    status: available ? 'Available' : 'NotAvailable',
    ...(rule === '' ? {} : { rule }),
    ...(reason === '' ? {} : { reason }),
    ...(change === '' ? {} : { change }),
  };
}

function toResult({
  index,
  id,
  outcome,
  warnings,
  error,
  sameAs,
  beforeJson,
  afterJson,
}: ApplyResultMessage): ApplyResult {
  const before = beforeJson === '' ? {} : { before: parseDocument(beforeJson) };
  return {
    index,
    outcome: OUTCOMES[outcome],
    warnings,
    ...(id ? { id: toId(id) } : {}),
    ...(error ? { error: statusToApiError(error) } : {}),
    ...(sameAs === undefined ? {} : { sameAs }),
    ...(afterJson === '' ? {} : { diff: { ...before, after: parseDocument(afterJson) } }),
  };
}

function toId(id: ResourceIdentity | undefined): ResourceId {
  const { kind = '', mesh = '', zone = '', namespace = '', name = '' } = id ?? {};
  return { kind, mesh, zone, namespace, name };
}

function parseDocument(json: string): JsonObject {
  const value: unknown = JSON.parse(json);
  if (isJsonObject(value)) return value;
  throw new ApiError('internal', 'the server sent a document that is no object');
}
