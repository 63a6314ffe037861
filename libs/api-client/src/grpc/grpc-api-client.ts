import {
  ApplyOutcome,
  NamingServiceClient,
  ResourceServiceClient,
  SelectionMessage,
  type ApplyResponse,
  type ApplyResult as ApplyResultMessage,
  type ListResponse,
  type ResourceIdentity,
  type ResourceName,
  type WatchResponse,
} from '@causeway/proto-gen';
import { isJsonObject, type JsonObject } from '@causeway/resources';
import { credentials, Metadata, type ChannelCredentials, type ServiceError } from '@grpc/grpc-js';
import {
  ApiError,
  type ApiClient,
  type ApplyOptions,
  type DeleteOptions,
  type ApplyResult,
  type ApplySummary,
  type Connection,
  type HostnameExplanation,
  type HostnameQuestion,
  type ReadOptions,
  type ResolvedService,
  type ResourceId,
  type ResourceList,
  type ResourceRef,
  type ResourceSelection,
  type StoredResource,
  type WatchEvent,
  type WatchOptions,
} from '../api-client';
import { resumingWatch } from '../resuming-watch';
import { apiErrorOf, errorOfStatus } from './grpc-error';

/** Characters of documents in one message of an apply; a message may have 4 MiB. */
const MESSAGE = 1024 * 1024;

/** How long a call that is answered once may take, ms. */
const DEADLINE = 30_000;

const OPTIONS = {
  'grpc.max_receive_message_length': 16 * 1024 * 1024,
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // A cut is retried as soon as by REST.
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

/** A control plane over gRPC. */
export class GrpcApiClient implements ApiClient {
  private readonly resources: ResourceServiceClient;
  private readonly naming: NamingServiceClient;
  private readonly metadata = new Metadata();

  constructor(connection: Connection) {
    const { server, token } = connection;
    const address = `${server.hostname}:${server.port || '5682'}`;
    this.resources = new ResourceServiceClient(address, credentialsOf(connection), OPTIONS);
    this.naming = new NamingServiceClient(address, credentialsOf(connection), OPTIONS);
    if (token !== undefined) this.metadata.set('authorization', `Bearer ${token}`);
  }

  async get(resource: ResourceRef, { minRevision = 0, signal }: ReadOptions = {}): Promise<StoredResource> {
    const request = { name: nameMessage(resource), minRevision };
    const { resource: found } = await this.unary<{ resource: ListResponse['resources'][number] | undefined }>(
      (done) => this.resources.get(request, this.metadata, deadline(), done),
      signal,
    );
    if (!found) throw new ApiError('internal', 'the answer has no resource');
    return { document: documentOf(found.json), etag: found.etag, revision: found.revision };
  }

  async list(selection: ResourceSelection, { minRevision = 0, signal }: ReadOptions = {}): Promise<ResourceList> {
    const documents: JsonObject[] = [];
    let head = { revision: 0, resumeToken: '' };
    const call = this.resources.list({ selection: selectionMessage(selection), minRevision }, this.metadata);
    for await (const { resources, revision, resumeToken } of messagesOf<ListResponse>(call, signal)) {
      head = { revision, resumeToken };
      for (const { json } of resources) documents.push(documentOf(json));
    }
    return { documents, ...head };
  }

  watch(selection: ResourceSelection, options: WatchOptions): AsyncIterable<WatchEvent> {
    return resumingWatch((token, signal) => this.watchOnce(selection, token, signal), options);
  }

  async apply(documents: readonly JsonObject[], options: ApplyOptions = {}): Promise<ApplySummary> {
    const { atomic = false, dryRun = false, mesh = '', signal, progress } = options;
    const call = this.resources.apply(this.metadata);
    const head = { atomic, dryRun, mesh, etag: '' };
    for (const chunk of chunksOf(documents.map((one) => JSON.stringify(one))))
      call.write({ ...head, documents: chunk.map((json) => ({ json })) });
    call.end();
    const results: ApplyResult[] = [];
    let last = 0;
    for await (const { results: more, progress: told, revision } of messagesOf<ApplyResponse>(call, signal)) {
      results.push(...more.map(resultOf));
      if (told) progress?.(told);
      last = revision;
    }
    return { results, revision: last };
  }

  async delete(
    resource: ResourceRef,
    { etag = '', dryRun = false, terminate = false }: DeleteOptions = {},
  ): Promise<readonly string[]> {
    const request = { name: nameMessage(resource), etag, dryRun, terminate };
    const { warnings } = await this.unary<{ warnings: string[] }>((done) =>
      this.resources.delete(request, this.metadata, deadline(), done),
    );
    return warnings;
  }

  async resolve({ hostname, mesh = '', zone = '' }: HostnameQuestion): Promise<ResolvedService> {
    const request = { hostname, mesh, zone, minRevision: 0 };
    const { service, virtualIps, ports, endpoints } = await this.unary<ResolveAnswer>((done) =>
      this.naming.resolve(request, this.metadata, deadline(), done),
    );
    return { service: idOf(service), virtualIps, ports, endpoints };
  }

  async explain({ hostname, mesh = '', zone = '' }: HostnameQuestion): Promise<HostnameExplanation> {
    const request = { hostname, mesh, zone, minRevision: 0 };
    const { claims, hints } = await this.unary<ExplainAnswer>((done) =>
      this.naming.explain(request, this.metadata, deadline(), done),
    );
    return {
      claims: claims.map(({ service, generator, available, reason }) => ({
        ...{ service: idOf(service), generator, available, reason },
      })),
      hints,
    };
  }

  close(): void {
    this.resources.close();
    this.naming.close();
  }

  private async *watchOnce(
    selection: ResourceSelection,
    resumeToken = '',
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent> {
    const request = { selection: selectionMessage(selection), resumeToken, minRevision: 0 };
    for await (const { event } of messagesOf<WatchResponse>(this.resources.watch(request, this.metadata), signal)) {
      if (event?.$case === 'put') yield { type: 'put', document: documentOf(event.value.json) };
      else if (event?.$case === 'deleted') yield { type: 'deleted', id: idOf(event.value) };
      else if (event) yield { type: 'bookmark', ...event.value };
    }
  }

  private unary<A>(
    call: (done: (error: ServiceError | null, answer: A) => void) => Cancelable,
    signal?: AbortSignal,
  ): Promise<A> {
    return new Promise((resolve, reject) => {
      const pending = call((error, answer) => {
        signal?.removeEventListener('abort', cancel);
        if (error) reject(apiErrorOf(error));
        else resolve(answer);
      });
      const cancel = (): void => pending.cancel();
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }
}

interface Cancelable {
  cancel(): void;
}

interface ResolveAnswer extends Omit<ResolvedService, 'service'> {
  readonly service: ResourceIdentity | undefined;
}

interface ExplainAnswer {
  readonly claims: readonly {
    readonly service: ResourceIdentity | undefined;
    readonly generator: string;
    readonly available: boolean;
    readonly reason: string;
  }[];
  readonly hints: readonly string[];
}

/** The messages of a call; it is cancelled when `signal` aborts and when the reader leaves. Throws ApiError. */
async function* messagesOf<T>(
  call: AsyncIterable<T> & Cancelable & { on(event: 'error', listener: () => void): unknown },
  signal: AbortSignal | undefined,
): AsyncGenerator<T> {
  const cancel = (): void => call.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  // Also of a call whose reader has left before its error came.
  call.on('error', () => undefined);
  try {
    yield* call;
  } catch (error) {
    throw apiErrorOf(error);
  } finally {
    signal?.removeEventListener('abort', cancel);
    cancel();
  }
}

function credentialsOf({ server, ca, insecure = false }: Connection): ChannelCredentials {
  if (server.protocol === 'grpc:') return credentials.createInsecure();
  const roots = ca === undefined ? null : Buffer.from(ca);
  return credentials.createSsl(roots, null, null, insecure ? { rejectUnauthorized: false } : {});
}

function deadline(): { readonly deadline: number } {
  return { deadline: Date.now() + DEADLINE };
}

function* chunksOf(texts: readonly string[]): Generator<readonly string[]> {
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
  return SelectionMessage.fromPartial(selection);
}

function resultOf({ index, id, outcome, warnings, error, beforeJson, afterJson }: ApplyResultMessage): ApplyResult {
  const before = beforeJson === '' ? {} : { before: documentOf(beforeJson) };
  return {
    ...{ index, outcome: OUTCOMES[outcome], warnings },
    ...(id ? { id: idOf(id) } : {}),
    ...(error ? { error: errorOfStatus(error) } : {}),
    ...(afterJson === '' ? {} : { diff: { ...before, after: documentOf(afterJson) } }),
  };
}

function idOf(id: ResourceIdentity | undefined): ResourceId {
  const { kind = '', mesh = '', zone = '', namespace = '', name = '' } = id ?? {};
  return { kind, mesh, zone, namespace, name };
}

function documentOf(json: string): JsonObject {
  const value: unknown = JSON.parse(json);
  if (isJsonObject(value)) return value;
  throw new ApiError('internal', 'the server sent a document that is no object');
}
