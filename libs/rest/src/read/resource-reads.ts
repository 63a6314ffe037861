import { etagOf } from '@causeway/admission';
import type { Queries } from '@causeway/queries';
import type { Registry, Resource } from '@causeway/resources';
import type { RequestSignals } from '../http/request-signals';
import { kindInPath, queryOf, type RestRequest } from '../http/rest-request';
import { jsonTextResponse, type RestResponse } from '../http/rest-response';
import { listResponse } from './list-body';
import { nameQuery, readForm, readMinRevision, readPage, readSelection, type DocumentForm } from './query-decoding';
import { getParameters, listParameters } from './read-parameters';

/** What reads translate with. */
export interface ReadParts {
  readonly registry: Registry;
  readonly queries: Queries;
  readonly requestSignals: RequestSignals;
}

/** GET of lists and of single resources. */
export class ResourceReads {
  constructor(private readonly parts: ReadParts) {}

  /** `{total, items, next}`; throws 404 for an unknown kind or mesh, 400 for a bad query. */
  async list(call: RestRequest): Promise<RestResponse> {
    const { registry, queries, requestSignals } = this.parts;
    const { kind, mesh } = kindInPath(call, registry, false);
    const query = queryOf(call, listParameters(kind));
    const selection = readSelection(query);
    const page = readPage(query);
    const form = readForm(query);
    query.flag('watch');
    if (query.text('since') !== undefined) query.refuse('since', 'is for a watch; add watch=true');
    const minRevision = readMinRevision(query);
    query.check();
    const scope = { kind: kind.name, mesh, selection };
    const result = await queries.resources.list({ scope, page, minRevision }, () => requestSignals.signalOf(call));
    return listResponse(call, { page, result, text: (resource) => queries.json.listed(resource, form) });
  }

  /** One resource by its plain name or its name on the KDS wire, with its ETag. */
  async get(call: RestRequest): Promise<RestResponse> {
    const { kind, mesh } = kindInPath(call, this.parts.registry, true);
    const query = queryOf(call, getParameters(kind));
    const name = nameQuery(call, kind, mesh, query);
    const form = readForm(query);
    const minRevision = readMinRevision(query);
    query.check();
    return this.show(await this.parts.queries.resources.get(name, minRevision), form);
  }

  /** The response that shows one resource. */
  show(resource: Resource, form: DocumentForm): RestResponse {
    return jsonTextResponse(this.parts.queries.json.encode(resource, { form }), {
      etag: etagOf(resource),
      'causeway-revision': String(resource.revision),
    });
  }
}
