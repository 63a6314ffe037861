import { etagOf, resolveName, type NameQuery } from '@causeway/admission';
import type { ControlPlane, Kind, Registry, Resource } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import type { Gate } from '../http/gate';
import type { RequestSignals } from '../http/request-signals';
import { jsonTextResponse, type RestResponse } from '../http/rest-response';
import { truncated } from '../http/truncated';
import { pathParameter, kindInPath, queryOf, type RestRequest } from '../http/rest-request';
import type { QueryReader } from '../http/query-reader';
import { requireMesh } from './require-mesh';
import type { Freshness } from './freshness';
import type { Lister } from './lister';
import { readPage, readSelection } from './list-query';
import { listAnswer } from './list-body';
import { getParameters, listParameters } from './read-parameters';
import type { ResourceJson } from './resource-json';

/** What reading works with. */
export interface ReadParts {
  readonly registry: Registry;
  readonly cp: ControlPlane;
  readonly index: IndexReader;
  readonly lister: Lister;
  readonly texts: ResourceJson;
  readonly freshness: Freshness;
  readonly requestSignals: RequestSignals;
  /** Bounds how many requests that look at very much work at once. */
  readonly costly: Gate;
}

/** Lists and single resources, from the in-memory index. */
export class ResourceReads {
  constructor(private readonly parts: ReadParts) {}

  /** `{total, items, next}`; throws 404 for an unknown kind or mesh, 400 for a bad query. */
  async list(call: RestRequest): Promise<RestResponse> {
    const { kind, mesh } = kindInPath(call, this.parts.registry, false);
    const query = queryOf(call, listParameters(kind));
    const selection = readSelection(query);
    const page = readPage(query);
    const form = readForm(query);
    query.flag('watch');
    if (query.text('since') !== undefined) query.refuse('since', 'is for a watch; add watch=true');
    await this.ready(query);
    if (mesh !== undefined) requireMesh(this.parts.index, mesh);
    const of = { kind: kind.name, mesh, selection };
    const found = await this.parts.lister.page(of, page, () => this.parts.requestSignals.signalOf(call));
    const text = (resource: Resource): string => this.parts.texts.listed(resource, form);
    return listAnswer(call, { page, found, text, revision: this.parts.freshness.revision() });
  }

  /** One resource by plain or wire name, with its ETag. */
  async get(call: RestRequest): Promise<RestResponse> {
    const { kind, mesh } = kindInPath(call, this.parts.registry, true);
    const query = queryOf(call, getParameters(kind));
    const name = nameQuery(call, kind, mesh, query);
    const form = readForm(query);
    await this.ready(query);
    if (mesh !== undefined) requireMesh(this.parts.index, mesh);
    return this.show(resolveName(this.parts.index, this.parts.cp, name), form);
  }

  /** The answer that shows one resource. */
  show(resource: Resource, form: 'universal' | 'k8s'): RestResponse {
    return jsonTextResponse(this.parts.texts.encode(resource, { form }), {
      etag: etagOf(resource),
      'causeway-revision': String(resource.revision),
    });
  }

  /** Checks the query and waits as `minRevision` asks and this server's own writes demand. */
  async ready(query: QueryReader): Promise<void> {
    const minRevision = query.integer('minRevision', { minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
    query.check();
    await this.parts.freshness.wait(minRevision);
  }
}

/** How the path and query of a call name one resource. */
export function nameQuery(call: RestRequest, kind: Kind, mesh: string | undefined, query: QueryReader): NameQuery {
  const namespace = kind.namespaced ? query.text('namespace') : undefined;
  const zone = query.text('zone');
  return {
    kind,
    name: pathParameter(call, 'name'),
    ...(mesh === undefined ? {} : { mesh }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(zone === undefined ? {} : { zone }),
  };
}

/** The form of document that `format` asks for. */
export function readForm(query: QueryReader): 'universal' | 'k8s' {
  const format = query.text('format') ?? 'universal';
  if (format === 'k8s' || format === 'kubernetes') return 'k8s';
  if (format !== 'universal')
    query.refuse('format', `must be one of universal, k8s, kubernetes; got "${truncated(format)}"`);
  return 'universal';
}
