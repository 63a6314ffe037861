import { resolveName, toDocument } from '@causeway/admission';
import type { JsonObject, Kind, Resource } from '@causeway/resources';
import type { Insights } from '../rest-dependencies';
import { jsonResponse, type RestResponse } from '../http/rest-response';
import { queryOf, type RestRequest } from '../http/rest-request';
import type { RestQueryParameter } from '../http/query-reader';
import { listAnswer } from '../read/list-body';
import { PAGE_PARAMETERS, readPage, readSelection, selectionParameters } from '../read/list-query';
import { addressParameters, FRESHNESS } from '../read/read-parameters';
import { requireMesh } from '../read/require-mesh';
import { readInsights } from './insights-of';
import { nameQuery, type ReadParts, type ResourceReads } from '../read/resource-reads';

/** Parameters of a list of overviews. */
export function overviewParameters(kind: Kind): readonly RestQueryParameter[] {
  return [...selectionParameters(kind), ...PAGE_PARAMETERS, FRESHNESS];
}

/** A resource together with what is known of it beside the log (rest.md §1.4). */
export class Overviews {
  constructor(
    private readonly parts: ReadParts,
    private readonly reads: ResourceReads,
    private readonly insights: Insights,
  ) {}

  /** A page of overviews of `kind`, in one mesh or all. */
  async list(call: RestRequest, kind: Kind, mesh: string | undefined): Promise<RestResponse> {
    const query = queryOf(call, overviewParameters(kind));
    const selection = readSelection(query);
    const page = readPage(query);
    await this.reads.ready(query);
    if (mesh !== undefined) requireMesh(this.parts.index, mesh);
    const revision = this.parts.freshness.revision();
    const of = { kind: kind.name, mesh, selection };
    const found = await this.parts.lister.page(of, page, () => this.parts.requestSignals.signalOf(call));
    const insights = await readInsights(this.insights, found.resources, this.parts.requestSignals.signalOf(call));
    const texts = new Map(
      found.resources.map((resource, i) => [resource, JSON.stringify(overview(kind, resource, insights[i]))]),
    );
    return listAnswer(call, { page, found, text: (resource) => texts.get(resource) ?? '{}', revision });
  }

  /** One overview; one without insight says so with an empty object. */
  async get(call: RestRequest, kind: Kind, mesh: string | undefined): Promise<RestResponse> {
    const query = queryOf(call, [...addressParameters(kind), FRESHNESS]);
    const name = nameQuery(call, kind, mesh, query);
    await this.reads.ready(query);
    if (mesh !== undefined) requireMesh(this.parts.index, mesh);
    const resource = resolveName(this.parts.index, this.parts.cp, name);
    return jsonResponse(overview(kind, resource, (await this.insights.insightOf?.(resource)) ?? {}));
  }
}

function overview(kind: Kind, resource: Resource, insight: JsonObject | undefined): JsonObject {
  const { spec, status: _status, ...envelope } = toDocument(kind, resource);
  const part = kind.name.charAt(0).toLowerCase() + kind.name.slice(1);
  return {
    ...envelope,
    type: `${kind.name}Overview`,
    [part]: spec,
    ...(insight === undefined ? {} : { [`${part}Insight`]: insight }),
  };
}
