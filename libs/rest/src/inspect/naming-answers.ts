import { resolveName } from '@causeway/admission';
import { FieldPath, Invalid, isJsonObject, ownZone, type Resource, type Violation } from '@causeway/resources';
import { compareText } from '@causeway/resources';
import type { HostnameQuestion, Insights } from '../rest-dependencies';
import { jsonResponse, type RestResponse } from '../http/rest-response';
import { decodeBody } from '../http/body-decode';
import { header, pathParameter, kindInPath, queryOf, type RestRequest } from '../http/rest-request';
import { HttpError } from '../http/http-error';
import type { RestQueryParameter } from '../http/query-reader';
import { addressParameters, FRESHNESS } from '../read/read-parameters';
import { requireMesh } from '../read/require-mesh';
import { nameQuery, type ReadParts, type ResourceReads } from '../read/resource-reads';
import { pageOf, OFFSET_PAGE_PARAMETERS, readOffsetPage } from './plain-page';
import { availableHostnames, KINDS_WITH_HOSTNAMES } from './held-hostnames';

/** Parameters of the table of hostnames. */
export const HOSTNAME_PARAMETERS: readonly RestQueryParameter[] = [
  { name: 'name', description: 'Only hostnames that contain this text.', schema: { type: 'string', maxLength: 253 } },
  ...OFFSET_PAGE_PARAMETERS,
  FRESHNESS,
];

/** Parameters of a DNS lookup. */
export const LOOKUP_PARAMETERS: readonly RestQueryParameter[] = [
  {
    ...{ name: 'name', description: 'The name to look up.', schema: { type: 'string', minLength: 1, maxLength: 255 } },
    required: { example: 'redis.svc.mesh.local' },
  },
  { name: 'type', description: 'The type of record; A where absent.', schema: { type: 'string', maxLength: 10 } },
  FRESHNESS,
];

/** What is asked about names: which exist, which a service has, who claims one. */
export class NamingAnswers {
  constructor(
    private readonly parts: ReadParts,
    private readonly reads: ResourceReads,
    private readonly insights: Insights,
  ) {}

  /** The table of all hostnames of a mesh, the denied ones with their reason. */
  async table(call: RestRequest): Promise<RestResponse> {
    const query = queryOf(call, HOSTNAME_PARAMETERS);
    const page = readOffsetPage(query);
    const containing = query.text('name') ?? '';
    await this.reads.ready(query);
    const mesh = pathParameter(call, 'mesh');
    requireMesh(this.parts.index, mesh);
    const part = { containing, ...page };
    const { hostnames } = this.insights;
    if (!hostnames) throw new HttpError(404, 'This control plane does not list hostnames.');
    const life = this.parts.requestSignals.signalOf(call);
    const rows = await this.parts.costly.run((signal) => hostnames(mesh, part, signal), life);
    return jsonResponse(pageOf(call, rows, page), { 'causeway-revision': String(this.parts.freshness.revision()) });
  }

  /** The hostnames that a service holds and in which zones (rest.md §1.5). */
  async ofService(call: RestRequest): Promise<RestResponse> {
    const { kind, mesh } = kindInPath(call, this.parts.registry, true);
    if (!KINDS_WITH_HOSTNAMES.includes(kind.name)) throw new HttpError(404, `A ${kind.name} has no hostnames.`);
    const query = queryOf(call, [...addressParameters(kind), FRESHNESS]);
    const name = nameQuery(call, kind, mesh, query);
    await this.reads.ready(query);
    requireMesh(this.parts.index, mesh ?? '');
    const items = this.held(resolveName(this.parts.index, this.parts.cp, name));
    return jsonResponse({ total: items.length, items });
  }

  /** Who claims a hostname and who wins, by which rule (design.md §4). */
  async explain(call: RestRequest): Promise<RestResponse> {
    const query = queryOf(call, [ZONE_OF_VIEW]);
    const zone = query.text('zone');
    await this.reads.ready(query);
    const { explainHostname } = this.insights;
    if (!explainHostname) throw new HttpError(404, 'This control plane does not explain hostnames.');
    const question = readQuestion(decodeBody(header(call, 'content-type'), call.body));
    requireMesh(this.parts.index, question.mesh);
    const asked = { ...question, ...(zone === undefined ? {} : { zone }) };
    const life = this.parts.requestSignals.signalOf(call);
    return jsonResponse(await this.parts.costly.run(async (signal) => explainHostname(asked, signal), life));
  }

  /** What the zone's DNS would answer to a name and why. */
  async lookup(call: RestRequest): Promise<RestResponse> {
    const query = queryOf(call, LOOKUP_PARAMETERS);
    const name = query.text('name');
    const type = query.text('type');
    if (name === undefined || name === '') query.refuse('name', 'must be given: the name to look up');
    await this.reads.ready(query);
    const { dnsLookup } = this.insights;
    if (!dnsLookup) throw new HttpError(404, 'This control plane answers no DNS; ask a zone.');
    return jsonResponse(await dnsLookup({ name: name ?? '', ...(type === undefined ? {} : { type }) }));
  }

  /** On the global a status is what the zone of origin reported of itself. */
  private held(service: Resource): object[] {
    const zone = ownZone(this.parts.cp) || service.id.zone;
    const names = [...availableHostnames(service)].sort(compareText);
    return names.map((hostname) => ({ hostname, zones: zone === '' ? [] : [{ name: zone }] }));
  }
}

/** Whose view of a hostname is asked for. */
export const ZONE_OF_VIEW: RestQueryParameter = {
  name: 'zone',
  description: 'The zone whose view is asked for; required on the global.',
  schema: { type: 'string', maxLength: 253 },
};

function readQuestion(body: unknown): HostnameQuestion {
  if (!isJsonObject(body)) throw new Invalid([FieldPath.at().violation('the body must be an object')]);
  const { hostname, mesh = 'default', ...rest } = body;
  const strangers: Violation[] = Object.keys(rest).map((key) => FieldPath.at(key).violation('is not a known field'));
  if (typeof hostname === 'string' && hostname !== '' && typeof mesh === 'string' && strangers.length === 0)
    return { hostname, mesh };
  throw new Invalid([
    ...(typeof hostname === 'string' && hostname !== ''
      ? []
      : [FieldPath.at('hostname').violation('must be a host name')]),
    ...(typeof mesh === 'string' ? [] : [FieldPath.at('mesh').violation('must be a string')]),
    ...strangers,
  ]);
}
