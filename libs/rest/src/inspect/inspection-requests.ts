import type { Queries } from '@causeway/queries';
import { FieldPath, Invalid, isJsonObject, type Kind, type Registry, type Violation } from '@causeway/resources';
import { decodeBody } from '../http/body-decode';
import type { RequestSignals } from '../http/request-signals';
import { header, kindInPath, pathParameter, queryOf, type RestRequest } from '../http/rest-request';
import { jsonResponse, type RestResponse } from '../http/rest-response';
import { listResponse, tableBody } from '../read/list-body';
import { nameQuery, readMinRevision, readOffsetPage, readPage, readSelection } from '../read/query-decoding';
import {
  addressParameters,
  FRESHNESS,
  HOSTNAME_PARAMETERS,
  LOOKUP_PARAMETERS,
  OFFSET_PAGE_PARAMETERS,
  overviewParameters,
  ZONE_OF_VIEW,
} from '../read/read-parameters';

/** What inspections translate with. */
export interface InspectionParts {
  readonly registry: Registry;
  readonly queries: Queries;
  readonly requestSignals: RequestSignals;
}

/** Views that join several resources, or a resource and its insight (docs/reference/kuma-rest.md §1.4, §1.5). */
export class InspectionRequests {
  constructor(private readonly parts: InspectionParts) {}

  zones(call: RestRequest): Promise<RestResponse> {
    return this.overviews(call, this.kind('Zone'), undefined);
  }

  zone(call: RestRequest): Promise<RestResponse> {
    return this.overview(call, this.kind('Zone'), undefined);
  }

  dataplanes(call: RestRequest): Promise<RestResponse> {
    return this.overviews(call, this.kind('Dataplane'), meshOf(call));
  }

  dataplane(call: RestRequest): Promise<RestResponse> {
    return this.overview(call, this.kind('Dataplane'), meshOf(call));
  }

  /** The Dataplanes that a MeshService selects. */
  async dataplanesOf(call: RestRequest): Promise<RestResponse> {
    const kind = this.kind('MeshService');
    const query = queryOf(call, [...addressParameters(kind), ...OFFSET_PAGE_PARAMETERS, FRESHNESS]);
    const name = nameQuery(call, kind, meshOf(call), query);
    const range = readOffsetPage(query);
    const minRevision = readMinRevision(query);
    query.check();
    const signal = this.parts.requestSignals.signalOf(call);
    const table = await this.parts.queries.inspections.dataplanesOf(name, { range, minRevision }, signal);
    return jsonResponse(tableBody(call, table, range));
  }

  /** The table of all hostnames of a mesh. */
  async hostnames(call: RestRequest): Promise<RestResponse> {
    const query = queryOf(call, HOSTNAME_PARAMETERS);
    const range = readOffsetPage(query);
    const page = { containing: query.text('name') ?? '', ...range };
    const minRevision = readMinRevision(query);
    query.check();
    const request = { mesh: pathParameter(call, 'mesh'), page, minRevision };
    const table = await this.parts.queries.hostnames.table(request, this.parts.requestSignals.signalOf(call));
    return jsonResponse(tableBody(call, table, range), { 'causeway-revision': String(table.revision) });
  }

  /** The hostnames that a service has. */
  async hostnamesOf(call: RestRequest): Promise<RestResponse> {
    const { kind, mesh } = kindInPath(call, this.parts.registry, true);
    const { hostnames } = this.parts.queries;
    hostnames.checkHasHostnames(kind);
    const query = queryOf(call, [...addressParameters(kind), FRESHNESS]);
    const name = nameQuery(call, kind, mesh, query);
    const minRevision = readMinRevision(query);
    query.check();
    const items = await hostnames.ofService(name, minRevision);
    return jsonResponse({ total: items.length, items });
  }

  /** Who claims a hostname and who wins, by which rule. */
  async explain(call: RestRequest): Promise<RestResponse> {
    const query = queryOf(call, [ZONE_OF_VIEW]);
    const zone = query.text('zone');
    query.check();
    const { hostname, mesh } = decodeQuestion(decodeBody(header(call, 'content-type'), call.body));
    const question = { hostname, mesh, ...(zone === undefined ? {} : { zone }) };
    const signal = this.parts.requestSignals.signalOf(call);
    return jsonResponse(await this.parts.queries.hostnames.explain(question, undefined, signal));
  }

  /** What the zone's DNS server would answer, and why. */
  async lookup(call: RestRequest): Promise<RestResponse> {
    const query = queryOf(call, LOOKUP_PARAMETERS);
    const name = query.text('name');
    const type = query.text('type');
    if (name === undefined || name === '') query.refuse('name', 'must be given: the name to look up');
    const minRevision = readMinRevision(query);
    query.check();
    const question = { name: name ?? '', ...(type === undefined ? {} : { type }) };
    return jsonResponse(await this.parts.queries.hostnames.lookup(question, minRevision));
  }

  private async overviews(call: RestRequest, kind: Kind, mesh: string | undefined): Promise<RestResponse> {
    const query = queryOf(call, overviewParameters(kind));
    const selection = readSelection(query);
    const page = readPage(query);
    const minRevision = readMinRevision(query);
    query.check();
    const request = { scope: { kind: kind.name, mesh, selection }, page, minRevision };
    const signal = (): AbortSignal => this.parts.requestSignals.signalOf(call);
    const result = await this.parts.queries.inspections.overviews(kind, request, signal);
    return listResponse(call, { page, result, text: (_, i) => JSON.stringify(result.overviews[i]) });
  }

  private async overview(call: RestRequest, kind: Kind, mesh: string | undefined): Promise<RestResponse> {
    const query = queryOf(call, [...addressParameters(kind), FRESHNESS]);
    const name = nameQuery(call, kind, mesh, query);
    const minRevision = readMinRevision(query);
    query.check();
    return jsonResponse(await this.parts.queries.inspections.overview(name, minRevision));
  }

  private kind(name: string): Kind {
    const kind = this.parts.registry.kind(name);
    if (!kind) throw new Error(`the registry has no ${name}`);
    return kind;
  }
}

function meshOf(call: RestRequest): string | undefined {
  return isJsonObject(call.params) && 'mesh' in call.params ? pathParameter(call, 'mesh') : undefined;
}

function decodeQuestion(body: unknown): { readonly hostname: string; readonly mesh: string } {
  if (!isJsonObject(body)) throw new Invalid([FieldPath.at().violation('the body must be an object')]);
  const { hostname, mesh = 'default', ...rest } = body;
  const unknownFields: Violation[] = Object.keys(rest).map((key) =>
    FieldPath.at(key).violation('is not a known field'),
  );
  if (typeof hostname === 'string' && hostname !== '' && typeof mesh === 'string' && unknownFields.length === 0)
    return { hostname, mesh };
  throw new Invalid([
    ...(typeof hostname === 'string' && hostname !== ''
      ? []
      : [FieldPath.at('hostname').violation('must be a host name')]),
    ...(typeof mesh === 'string' ? [] : [FieldPath.at('mesh').violation('must be a string')]),
    ...unknownFields,
  ]);
}
