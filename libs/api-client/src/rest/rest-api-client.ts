import { coreKinds } from '@causeway/kinds';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';
import {
  ApiError,
  type ApiClient,
  type ApplyOptions,
  type DeleteOptions,
  type ApplyResult,
  type ApplySummary,
  type Connection,
  type HostnameClaim,
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
import { Http, problemError } from './http';

/** A control plane over REST. Lists are read page by page; a watch from their token repeats what changed in between. */
export class RestApiClient implements ApiClient {
  private readonly http: Http;

  constructor(connection: Connection) {
    this.http = new Http(connection);
  }

  async get(resource: ResourceRef, { minRevision, signal }: ReadOptions = {}): Promise<StoredResource> {
    const query = { ...addressOf(resource), minRevision: numberText(minRevision) };
    const { body, headers } = await this.http.json({ method: 'GET', path: pathOf(resource), query, signal });
    return { document: body, etag: headers.etag ?? '', revision: revisionIn(headers) };
  }

  async list(selection: ResourceSelection, { minRevision, signal }: ReadOptions = {}): Promise<ResourceList> {
    const documents: JsonObject[] = [];
    let revision: number | undefined;
    let page: { readonly path: string; readonly query?: Record<string, string | undefined> } | undefined = {
      path: pathOf(selection),
      query: { ...filterOf(selection), minRevision: numberText(minRevision), size: '1000', cursor: '' },
    };
    while (page) {
      const { body, headers } = await this.http.json({ method: 'GET', ...page, signal });
      revision ??= revisionIn(headers);
      documents.push(...listOf(body['items']).filter(isJsonObject));
      const { next } = body;
      page = typeof next === 'string' ? { path: next } : undefined;
    }
    return { documents, revision: revision ?? 0, resumeToken: String(revision ?? 0) };
  }

  watch(selection: ResourceSelection, options: WatchOptions): AsyncIterable<WatchEvent> {
    return resumingWatch((token, signal) => this.watchOnce(selection, token, signal), options);
  }

  async apply(documents: readonly JsonObject[], options: ApplyOptions = {}): Promise<ApplySummary> {
    const { atomic = false, dryRun = false, mesh, signal, progress } = options;
    const query = { atomic: String(atomic), dryRun: String(dryRun), mesh };
    const results: ApplyResult[] = [];
    for await (const line of this.http.lines({ method: 'POST', path: '/_apply', query, body: documents, signal })) {
      const value: unknown = line === '' ? {} : JSON.parse(line);
      if (!isJsonObject(value)) continue;
      const { progress: checked, written, summary, error } = value;
      if (typeof value['index'] === 'number') results.push(resultOf(value));
      else if (typeof checked === 'number' && typeof written === 'number')
        progress?.({ checked, written, total: documents.length });
      else if (isJsonObject(error)) throw problemError(Number(error['status']), error);
      else if (isJsonObject(summary)) return { results, revision: Number(summary['revision'] ?? 0) };
    }
    throw new ApiError('unavailable', 'the answer was cut off: apply again; what was written then is unchanged');
  }

  async delete(
    resource: ResourceRef,
    { etag, dryRun = false, terminate = false }: DeleteOptions = {},
  ): Promise<readonly string[]> {
    const headers = etag === undefined ? {} : { 'if-match': etag };
    const query = {
      ...addressOf(resource),
      ...(dryRun ? { dryRun: 'true' } : {}),
      ...(terminate ? { terminate: 'true' } : {}),
    };
    const { body } = await this.http.json({ method: 'DELETE', path: pathOf(resource), query, headers });
    return listOf(body['warnings']).map(textOf);
  }

  async resolve(question: HostnameQuestion): Promise<ResolvedService> {
    const { claims } = await this.explain(question);
    const holder = claims.find(({ available }) => available)?.service;
    if (!holder) throw new ApiError('not-found', `no service has the hostname ${question.hostname}`);
    const { status, spec } = (await this.get(holder)).document;
    const vip = isJsonObject(status) && isJsonObject(status['vip']) ? textOf(status['vip']['ip']) : '';
    const ports = isJsonObject(spec) ? listOf(spec['ports']).filter(isJsonObject) : [];
    return {
      service: holder,
      virtualIps: vip === '' ? [] : [vip],
      ports: ports.map(({ port, name, appProtocol }) => ({
        ...{ port: Number(port), name: textOf(name), appProtocol: textOf(appProtocol) || 'tcp' },
      })),
    };
  }

  async explain({ hostname, mesh = 'default', zone }: HostnameQuestion): Promise<HostnameExplanation> {
    const request = { path: '/_explain/hostname', query: { zone }, body: { hostname, mesh } };
    const { body } = await this.http.json({ method: 'POST', ...request });
    return {
      claims: listOf(body['claims']).filter(isJsonObject).map(claimOf),
      hints: listOf(body['hints']).map(textOf),
    };
  }

  close(): void {
    this.http.close();
  }

  private async *watchOnce(
    selection: ResourceSelection,
    since: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent> {
    const query = { ...filterOf(selection), watch: 'true', since };
    const block = new Map<string, string>();
    for await (const line of this.http.lines({ method: 'GET', path: pathOf(selection), query, signal })) {
      const [, field, value] = /^(event|id|data): (.*)$/.exec(line) ?? [];
      if (field !== undefined && value !== undefined) block.set(field, value);
      if (line !== '' || block.size === 0) continue;
      yield eventOf(block);
      block.clear();
    }
  }
}

function eventOf(block: ReadonlyMap<string, string>): WatchEvent {
  const data: unknown = JSON.parse(block.get('data') ?? '{}');
  const document = isJsonObject(data) ? data : {};
  switch (block.get('event')) {
    case 'put':
      return { type: 'put', document };
    case 'delete':
      return { type: 'deleted', id: idOf({ ...document, kind: document['type'] ?? '' }) };
    case 'bookmark':
      return { type: 'bookmark', resumeToken: block.get('id') ?? '', revision: Number(document['revision']) };
    case 'error':
      throw problemError(Number(document['status']), document);
    default:
      throw new ApiError('watch-expired', 'this client fell too far behind');
  }
}

function resultOf(line: JsonObject): ApplyResult {
  const { outcome, warnings, status, diff } = line;
  const known = ['created', 'updated', 'unchanged', 'skipped'] as const;
  const id = typeof line['name'] === 'string' ? idOf({ ...line, kind: line['type'] ?? '' }) : undefined;
  return {
    index: Number(line['index']),
    outcome: known.find((one) => one === outcome) ?? 'refused',
    warnings: listOf(warnings).map(textOf),
    ...(id ? { id } : {}),
    ...(outcome === 'refused' ? { error: problemError(Number(status), line) } : {}),
    ...(isJsonObject(diff) ? { diff: diffOf(diff) } : {}),
  };
}

function diffOf({ before, after }: JsonObject): NonNullable<ApplyResult['diff']> {
  return { ...(isJsonObject(before) ? { before } : {}), after: isJsonObject(after) ? after : {} };
}

function claimOf({ service, generator, status, reason }: JsonObject): HostnameClaim {
  return {
    service: idOf(isJsonObject(service) ? service : {}),
    generator: isJsonObject(generator) ? textOf(generator['name']) : '',
    available: status === 'Available',
    reason: textOf(reason),
  };
}

function idOf({ kind, mesh, zone, namespace, name }: JsonObject): ResourceId {
  return {
    kind: textOf(kind),
    mesh: textOf(mesh),
    zone: textOf(zone),
    namespace: textOf(namespace),
    name: textOf(name),
  };
}

/** The path of a list, or of one resource. Throws ApiError for a kind that this client does not know. */
function pathOf({
  kind: named,
  mesh,
  name,
}: {
  readonly kind: string;
  readonly mesh?: string;
  readonly name?: string;
}): string {
  const kind = coreKinds.kind(named);
  if (!kind) throw new ApiError('invalid', `there is no kind ${named}`);
  const inMesh = kind.scope === 'mesh' && (mesh !== undefined || name !== undefined);
  const list = `${inMesh ? `/meshes/${encodeURIComponent(mesh || 'default')}` : ''}/${kind.plural}`;
  return name === undefined ? list : `${list}/${encodeURIComponent(name)}`;
}

function addressOf({ namespace, zone }: ResourceRef): Record<string, string | undefined> {
  return { namespace: namespace === '' ? undefined : namespace, zone };
}

function filterOf({
  namespace,
  zone,
  nameContains,
  labelSelector,
}: ResourceSelection): Record<string, string | undefined> {
  return { namespace, zone, name: nameContains, labelSelector };
}

function revisionIn(headers: Readonly<Record<string, string | readonly string[] | undefined>>): number {
  return Number(headers['causeway-revision'] ?? 0);
}

function numberText(value: number | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(value) ? value : [];
}
