import { coreKinds } from '@causeway/kinds';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, type Kind } from '@causeway/resources';
import type {
  ApiClient,
  ApplyOptions,
  DeleteOptions,
  ApplyResult,
  ApplySummary,
  Connection,
  Endpoint,
  HostnameClaim,
  HostnameExplanation,
  HostnameQuestion,
  ReadOptions,
  RequestExplanationQuestion,
  ResolvedService,
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
import { HttpClient, readItems, PAGE, problemError } from './http';
import type { RestCalls } from './rest-calls';

type KindPlace = Pick<Kind, 'plural' | 'scope'>;

/** A control plane over REST. Lists are read page by page; a watch from their token repeats what changed in between. */
export class RestApiClient implements ApiClient {
  readonly server: URL;
  private readonly http: HttpClient;
  private readonly declared = new Map<string, KindPlace>();

  constructor(connection: Connection) {
    this.server = connection.server;
    this.http = new HttpClient(connection);
  }

  get rest(): RestCalls {
    return this.http;
  }

  async get(resource: ResourceRef, { minRevision, signal }: ReadOptions = {}): Promise<StoredResource> {
    const query = { ...addressOf(resource), minRevision: numberText(minRevision) };
    const { body, headers } = await this.http.answer({ path: await this.pathOf(resource), query, signal });
    return { document: body, etag: headers.etag ?? '', revision: revisionIn(headers) };
  }

  async list(selection: ResourceSelection, options: ReadOptions = {}): Promise<ResourceList> {
    const { minRevision, most = Infinity, signal } = options;
    const documents: JsonObject[] = [];
    let revision: number | undefined;
    const size = String(Math.min(PAGE, most));
    const query = { ...filterOf(selection), minRevision: numberText(minRevision), size, cursor: '' };
    for await (const { body, headers } of this.http.pages({ path: await this.pathOf(selection), query, signal })) {
      revision ??= revisionIn(headers);
      documents.push(...readItems(body));
      if (documents.length >= most) break;
    }
    return { documents: documents.slice(0, most), revision: revision ?? 0, resumeToken: String(revision ?? 0) };
  }

  watch(selection: ResourceSelection, options: WatchOptions): AsyncIterable<WatchEvent> {
    return resumingWatch((token, signal) => this.watchOnce(selection, token, signal), options);
  }

  async apply(documents: readonly unknown[], options: ApplyOptions = {}): Promise<ApplySummary> {
    const { atomic = false, dryRun = false, mesh, signal, progress, result } = options;
    const query = { atomic: String(atomic), dryRun: String(dryRun), mesh };
    const results: ApplyResult[] = [];
    for await (const line of this.http.lines({ method: 'POST', path: '/_apply', query, body: documents, signal })) {
      const value: unknown = line === '' ? {} : JSON.parse(line);
      if (!isJsonObject(value)) continue;
      const { progress: checked, written, summary, error } = value;
      if (typeof value['index'] === 'number') {
        const found = resultOf(value);
        results.push(found);
        result?.(found);
      } else if (typeof checked === 'number' && typeof written === 'number')
        progress?.({ checked, written, total: documents.length });
      else if (isJsonObject(error)) throw problemError(Number(error['status']), error);
      else if (isJsonObject(summary)) return { results, revision: Number(summary['revision'] ?? 0) };
    }
    throw new ApiError('unavailable', 'the answer was cut off: apply again; what was written then is unchanged');
  }

  async replace(
    resource: ResourceRef,
    document: JsonObject,
    { etag, dryRun = false }: Omit<DeleteOptions, 'terminate'> = {},
  ): Promise<Pick<ApplyResult, 'outcome' | 'warnings'>> {
    const headers: Readonly<Record<string, string>> = etag === undefined ? {} : { 'if-match': etag };
    const query = { ...addressOf(resource), ...(dryRun ? { dryRun: 'true' } : {}) };
    const request = { method: 'PUT', path: await this.pathOf(resource), query, headers, body: document } as const;
    const { body, headers: answered } = await this.http.answer(request);
    const outcome = WRITTEN.find((one) => one === answered['causeway-outcome']) ?? 'updated';
    return { outcome, warnings: listOf(body['warnings']).map(textOf) };
  }

  async delete(
    resource: ResourceRef,
    { etag, dryRun = false, terminate = false }: DeleteOptions = {},
  ): Promise<readonly string[]> {
    const headers: Readonly<Record<string, string>> = etag === undefined ? {} : { 'if-match': etag };
    const flags = { ...(dryRun ? { dryRun: 'true' } : {}), ...(terminate ? { terminate: 'true' } : {}) };
    const query = { ...addressOf(resource), ...flags };
    const body = await this.http.json({ method: 'DELETE', path: await this.pathOf(resource), query, headers });
    return listOf(body['warnings']).map(textOf);
  }

  async resolve(question: HostnameQuestion): Promise<ResolvedService> {
    const body = await this.ask('/_resolve/hostname', question);
    return {
      hostname: textOf(body['hostname']),
      zone: textOf(body['zone']),
      service: idOf(objectOf(body['service'])),
      virtualIps: listOf(body['virtualIps']).map(textOf),
      ports: objectsOf(body['ports']).map(({ port, name, appProtocol }) => ({
        port: Number(port),
        name: textOf(name),
        appProtocol: textOf(appProtocol),
      })),
      endpoints: objectsOf(body['endpoints']).map(endpointOf),
    };
  }

  async explain(question: HostnameQuestion): Promise<HostnameExplanation> {
    const body = await this.ask('/_explain/hostname', question);
    return {
      hostname: textOf(body['hostname']),
      mesh: textOf(body['mesh']),
      zone: textOf(body['zone']),
      claims: objectsOf(body['claims']).map(claimOf),
      hints: listOf(body['hints']).map(textOf),
      note: textOf(body['note']),
    };
  }

  async explainRequest({ mesh, zone, question }: RequestExplanationQuestion): Promise<JsonObject> {
    const path = `${await this.meshPath(mesh)}/_explain`;
    return this.http.json({ method: 'POST', path, query: { zone }, body: question });
  }

  async routesOf({ mesh, port, ...asked }: RoutesOfServiceQuestion): Promise<JsonObject> {
    return this.http.json({
      path: `${await this.meshPath(mesh)}/_routes`,
      query: { ...asked, port: numberText(port) },
    });
  }

  close(): void {
    this.http.close();
  }

  private ask(path: string, { hostname, mesh = '', zone }: HostnameQuestion): Promise<JsonObject> {
    return this.http.json({
      method: 'POST',
      path,
      query: { zone },
      body: { hostname, ...(mesh === '' ? {} : { mesh }) },
    });
  }

  private async meshPath(mesh: string | undefined): Promise<string> {
    return `/meshes/${encodeURIComponent(mesh || (await this.http.expectedMesh()))}`;
  }

  /** The path of a list, or of one resource. Throws ApiError for a kind that neither this client nor the control plane knows. */
  private async pathOf({ kind: named, mesh, name }: ResourceSelection & { readonly name?: string }): Promise<string> {
    const kind = coreKinds.kind(named) ?? (await this.declaredKind(named));
    if (!kind) throw new ApiError('invalid', `there is no kind ${named}`);
    const inMesh = kind.scope === 'mesh' && (mesh !== undefined || name !== undefined);
    const place = inMesh ? await this.meshPath(mesh) : '';
    const list = `${place}/${kind.plural}`;
    return name === undefined ? list : `${list}/${encodeURIComponent(name)}`;
  }

  /** Returns the place of a declared kind of the control plane; unknown kinds are looked up again. */
  private async declaredKind(name: string): Promise<KindPlace | undefined> {
    if (!this.declared.has(name)) {
      const { resources } = await this.http.json({ path: '/_resources' });
      for (const each of isJsonArray(resources) ? resources.filter(isJsonObject) : []) {
        const { name: known, path, scope } = each;
        if (typeof known !== 'string' || typeof path !== 'string') continue;
        this.declared.set(known, { plural: path, scope: scope === 'Mesh' ? 'mesh' : 'global' });
      }
    }
    return this.declared.get(name);
  }

  private async *watchOnce(
    selection: ResourceSelection,
    since: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent> {
    const query = { ...filterOf(selection), watch: 'true', since };
    const block = new Map<string, string>();
    for await (const line of this.http.lines({ path: await this.pathOf(selection), query, signal })) {
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

const WRITTEN = ['created', 'updated', 'unchanged'] as const;

function resultOf(line: JsonObject): ApplyResult {
  const { outcome, warnings, status, diff, sameAs } = line;
  const known = [...WRITTEN, 'skipped'] as const;
  const id = typeof line['name'] === 'string' ? idOf({ ...line, kind: line['type'] ?? '' }) : undefined;
  return {
    index: Number(line['index']),
    outcome: known.find((one) => one === outcome) ?? 'refused',
    warnings: listOf(warnings).map(textOf),
    ...(id ? { id } : {}),
    ...(outcome === 'refused' ? { error: problemError(Number(status), line) } : {}),
    ...(typeof sameAs === 'number' ? { sameAs } : {}),
    ...(isJsonObject(diff) ? { diff: diffOf(diff) } : {}),
  };
}

function diffOf({ before, after }: JsonObject): NonNullable<ApplyResult['diff']> {
  return { ...(isJsonObject(before) ? { before } : {}), after: isJsonObject(after) ? after : {} };
}

function claimOf({ service, generator, status, rule, reason, change }: JsonObject): HostnameClaim {
  const { name, zone } = objectOf(generator);
  return {
    service: idOf(objectOf(service)),
    generator: textOf(name),
    available: status === 'Available',
    ...(typeof zone === 'string' ? { generatorZone: zone } : {}),
    rule: textOf(rule),
    reason: textOf(reason),
    change: textOf(change),
  };
}

function endpointOf({ address, port, servicePort, ready, dataplane }: JsonObject): Endpoint {
  return {
    address: textOf(address),
    port: Number(port),
    ready: ready === true,
    ...(typeof servicePort === 'number' ? { servicePort } : {}),
    ...(isJsonObject(dataplane) ? { dataplane: idOf(dataplane) } : {}),
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

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return listOf(value).filter(isJsonObject);
}
