import {
  applyResources,
  deleteResource,
  explainHostname,
  explainRequest,
  getResource,
  listKinds,
  listResources,
  listResourcesOfMesh,
  listRoutesOfService,
  putResource,
  resolveHostname,
  type AnswerOf,
  type AnyOperation,
  type HostnameExplanation,
  type RequestAnswer,
  type ResolvedHostname,
  type ServiceRoutes,
} from '@causeway/api';
import { coreKinds } from '@causeway/kinds';
import { isJsonObject, type JsonObject, type Kind } from '@causeway/resources';
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
import { resumingWatch } from '../resuming-watch';
import { findMisfit } from '../check-answer';
import { HttpTransport, problemError } from './http';
import { PAGE_SIZE, parseJson, RestCalls } from './rest-calls';

type KindPlace = Pick<Kind, 'plural' | 'scope'>;

/** The path parameters of a list. */
interface ListPath {
  readonly plural: string;
  readonly mesh?: string;
}

/** A client over REST. Lists are read page by page; a watch from their token repeats the changes made in between. */
export class RestApiClient implements ApiClient {
  readonly server: URL;
  readonly rest: RestCalls;
  private readonly http: HttpTransport;
  private readonly declared = new Map<string, KindPlace>();

  constructor(connection: Connection) {
    this.server = connection.server;
    this.http = new HttpTransport(connection);
    this.rest = new RestCalls(this.http);
  }

  async get(resource: ResourceRef, { minRevision, signal }: ReadOptions = {}): Promise<StoredResource> {
    const query = { ...readAddress(resource), minRevision };
    const { body, headers } = await this.rest.answer(getResource, {
      path: await this.findPath(resource),
      query,
      signal,
    });
    return { document: body, etag: headers.etag ?? '', revision: readRevision(headers) };
  }

  async list(selection: ResourceSelection, options: ReadOptions = {}): Promise<ResourceList> {
    const { minRevision, most = Infinity, signal } = options;
    const documents: JsonObject[] = [];
    let revision: number | undefined;
    const query = { ...readFilter(selection), minRevision, size: Math.min(PAGE_SIZE, most), cursor: '' };
    const path = await this.findListPath(selection);
    for await (const { body, headers } of this.rest.pages(listOperation(path), { path, query, signal })) {
      revision ??= readRevision(headers);
      documents.push(...body.items);
      if (documents.length >= most) break;
    }
    return { documents: documents.slice(0, most), revision: revision ?? 0, resumeToken: String(revision ?? 0) };
  }

  watch(selection: ResourceSelection, options: WatchOptions): AsyncIterable<WatchEvent> {
    return resumingWatch((token, signal) => this.watchOnce(selection, token, signal), options);
  }

  async apply(documents: readonly unknown[], options: ApplyOptions = {}): Promise<ApplySummary> {
    const { atomic = false, dryRun = false, mesh, signal, progress, result } = options;
    const query = { atomic, dryRun, mesh };
    const results: ApplyResult[] = [];
    for await (const text of this.rest.lines(applyResources, { query, body: documents, signal })) {
      const line = parseLine(text);
      if (line === undefined) continue;
      if ('index' in line) {
        const found = toResult(line);
        results.push(found);
        result?.(found);
      } else if ('progress' in line)
        progress?.({ checked: line.progress, written: line.written, total: documents.length });
      else if ('error' in line) throw problemError(line.error.status, line.error);
      else return { results, revision: line.summary.revision };
    }
    throw new ApiError('unavailable', 'the answer was cut off: apply again; what was written then is unchanged');
  }

  async replace(
    resource: ResourceRef,
    document: JsonObject,
    { etag, dryRun }: Omit<DeleteOptions, 'terminate' | 'force'> = {},
  ): Promise<Pick<ApplyResult, 'outcome' | 'warnings'>> {
    const query = { ...readAddress(resource), dryRun };
    const request = { path: await this.findPath(resource), query, headers: ifMatch(etag), body: document };
    const { body, headers } = await this.rest.answer(putResource, request);
    const outcome = WRITTEN.find((one) => one === headers['causeway-outcome']) ?? 'updated';
    return { outcome, warnings: body.warnings ?? [] };
  }

  async delete(resource: ResourceRef, options: DeleteOptions = {}): Promise<readonly string[]> {
    const { etag, dryRun, terminate, force } = options;
    const query = { ...readAddress(resource), dryRun, ...(terminate && { terminate }), ...(force && { force }) };
    const request = { path: await this.findPath(resource), query, headers: ifMatch(etag) };
    return (await this.rest.call(deleteResource, request)).warnings ?? [];
  }

  resolve({ zone, ...body }: HostnameQuestion): Promise<ResolvedHostname> {
    return this.rest.call(resolveHostname, { query: { zone }, body: withoutEmptyMesh(body) });
  }

  explain({ zone, ...body }: HostnameQuestion): Promise<HostnameExplanation> {
    return this.rest.call(explainHostname, { query: { zone }, body: withoutEmptyMesh(body) });
  }

  async explainRequest({ mesh, zone, question }: RequestExplanationQuestion): Promise<RequestAnswer> {
    const path = { mesh: await this.findMesh(mesh) };
    return this.rest.call(explainRequest, { path, query: { zone }, body: question });
  }

  async routesOf({ mesh, ...query }: RoutesOfServiceQuestion): Promise<ServiceRoutes> {
    return this.rest.call(listRoutesOfService, { path: { mesh: await this.findMesh(mesh) }, query });
  }

  close(): void {
    this.http.close();
  }

  private async findMesh(mesh: string | undefined): Promise<string> {
    return mesh || this.rest.expectedMesh();
  }

  /** Throws ApiError for a kind that neither this client nor the control plane knows. */
  private async findKind(name: string): Promise<KindPlace> {
    const kind = coreKinds.kind(name) ?? (await this.declaredKind(name));
    if (kind) return kind;
    throw new ApiError('invalid', `there is no kind ${name}`);
  }

  private async findListPath({ kind, mesh }: ResourceSelection): Promise<ListPath> {
    const { plural, scope } = await this.findKind(kind);
    return scope === 'mesh' && mesh !== undefined ? { plural, mesh: await this.findMesh(mesh) } : { plural };
  }

  private async findPath({ kind, mesh = '', name }: ResourceRef): Promise<ListPath & { readonly name: string }> {
    return { ...(await this.findListPath({ kind, mesh })), name };
  }

  /** Returns the path of a declared kind of the control plane; unknown kinds are looked up again. */
  private async declaredKind(name: string): Promise<KindPlace | undefined> {
    if (!this.declared.has(name)) {
      const { resources } = await this.rest.call(listKinds);
      for (const { name: known, path, scope } of resources)
        this.declared.set(known, { plural: path, scope: scope === 'Mesh' ? 'mesh' : 'global' });
    }
    return this.declared.get(name);
  }

  private async *watchOnce(
    selection: ResourceSelection,
    since: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent> {
    const query = { ...readFilter(selection), watch: true, since };
    const block = new Map<string, string>();
    const path = await this.findListPath(selection);
    for await (const line of this.rest.lines(listOperation(path), { path, query, signal })) {
      const [, field, value] = /^(event|id|data): (.*)$/.exec(line) ?? [];
      if (field !== undefined && value !== undefined) block.set(field, value);
      if (line !== '' || block.size === 0) continue;
      yield toEvent(block);
      block.clear();
    }
  }
}

function toEvent(block: ReadonlyMap<string, string>): WatchEvent {
  const data: unknown = JSON.parse(block.get('data') ?? '{}');
  const document = isJsonObject(data) ? data : {};
  switch (block.get('event')) {
    case 'put':
      return { type: 'put', document };
    case 'delete':
      return { type: 'deleted', id: toId({ ...document, kind: document['type'] }) };
    case 'bookmark':
      return { type: 'bookmark', resumeToken: block.get('id') ?? '', revision: Number(document['revision']) };
    case 'error':
      throw problemError(Number(document['status']), document);
    default:
      throw new ApiError('watch-expired', 'this client fell too far behind');
  }
}

const WRITTEN = ['created', 'updated', 'unchanged'] as const;

/** One line of the answer to a batch. */
type BatchLine = AnswerOf<typeof applyResources>;

/** Parses a line of the answer to a batch; undefined for an empty line, and for one of a type that only a newer server has. */
function parseLine(text: string): BatchLine | undefined {
  const value = parseJson(text);
  return isLine(value) ? value : undefined;
}

function isLine(value: unknown): value is BatchLine {
  const { answer }: AnyOperation = applyResources;
  return findMisfit(answer.schema, value) === undefined;
}

function toResult(line: Extract<BatchLine, { readonly index: number }>): ApplyResult {
  const { index, outcome, warnings = [], status = 0, diff, sameAs, type: kind = '', name } = line;
  return {
    index,
    outcome: [...WRITTEN, 'skipped' as const].find((one) => one === outcome) ?? 'refused',
    warnings,
    ...(name === undefined ? {} : { id: toId({ ...line, kind }) }),
    ...(outcome === 'refused' ? { error: problemError(status, line) } : {}),
    ...(sameAs === undefined ? {} : { sameAs }),
    ...(diff ? { diff: { after: diff.after, ...(diff.before ? { before: diff.before } : {}) } } : {}),
  };
}

/** Returns the identity in an answer; missing parts are empty. */
function toId({ kind, mesh, zone, namespace, name }: { readonly [K in keyof ResourceId]?: unknown }): ResourceId {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return { kind: text(kind), mesh: text(mesh), zone: text(zone), namespace: text(namespace), name: text(name) };
}

function listOperation({ mesh }: ListPath): typeof listResourcesOfMesh | typeof listResources {
  return mesh === undefined ? listResources : listResourcesOfMesh;
}

function withoutEmptyMesh({ hostname, mesh = '' }: Pick<HostnameQuestion, 'hostname' | 'mesh'>) {
  return { hostname, ...(mesh === '' ? {} : { mesh }) };
}

function ifMatch(etag: string | undefined): Readonly<Record<string, string>> {
  return etag === undefined ? {} : { 'if-match': etag };
}

function readAddress({ namespace, zone }: ResourceRef) {
  return { namespace: namespace === '' ? undefined : namespace, zone };
}

function readFilter({ namespace, zone, nameContains, labelSelector }: ResourceSelection) {
  return { namespace, zone, name: nameContains, labelSelector };
}

function readRevision(headers: Readonly<Record<string, string | readonly string[] | undefined>>): number {
  return Number(headers['causeway-revision'] ?? 0);
}
