import { Inject, Injectable, type PipeTransform, type Type } from '@nestjs/common';
import type { NameQuery } from '@causeway/admission';
import type { DnsQuestion, HostnameTableRequest, ListRequest, Queries } from '@causeway/queries';
import { FieldPath, Invalid, isJsonObject, type Kind, type Registry, type Violation } from '@causeway/resources';
import type { PageRange } from '@causeway/runtime';
import { pathParameter, type RestRequest } from '../http/rest-request';
import { QUERIES, REGISTRY } from '../rest-dependencies';
import {
  kindInPath,
  meshInPath,
  nameQuery,
  readForm,
  readMinRevision,
  readOffsetPage,
  readPage,
  readSelection,
  type DocumentForm,
} from '../http/request-decoding';
import {
  addressParameters,
  FORMAT,
  FRESHNESS,
  HOSTNAME_PARAMETERS,
  LOOKUP_PARAMETERS,
  OFFSET_PAGE_PARAMETERS,
  overviewParameters,
  ZONE_OF_VIEW,
} from './query-parameters';
import { readQuery, QueryReader, type RawQuery } from '../http/query-reader';

/** A page of overviews of a kind. */
export interface OverviewsQuery extends ListRequest {
  readonly kind: Kind;
}

/** One resource, and the revision that the response must show at least. */
export interface NamedQuery {
  readonly name: NameQuery;
  readonly minRevision: number | undefined;
}

/** A range of the Dataplanes of one service. */
export interface DataplanesQuery extends NamedQuery {
  readonly range: PageRange;
}

/** A range of the table of hostnames. */
export interface HostnamesQuery extends HostnameTableRequest {
  readonly range: PageRange;
}

/** A question to the zone's DNS server. */
export interface LookupQuery {
  readonly question: DnsQuestion;
  readonly minRevision: number | undefined;
}

/** The pipe that decodes a list of overviews of one kind. */
export function OverviewsPipe(kindName: string): Type<PipeTransform<RestRequest, OverviewsQuery>> {
  return pipeOfKind(kindName, (request, kind) => {
    const query = readQuery(request, overviewParameters(kind));
    const selection = readSelection(query);
    const page = readPage(query);
    const minRevision = readMinRevision(query);
    query.check();
    return { kind, scope: { kind: kind.name, mesh: meshInPath(request), selection }, page, minRevision };
  });
}

/** The pipe that decodes which resource of one kind is wanted. */
export function NamedPipe(kindName: string): Type<PipeTransform<RestRequest, NamedQuery>> {
  return pipeOfKind(kindName, (request, kind) => namedQuery(request, kind));
}

/** The pipe that decodes a range of the Dataplanes of one service. */
export const DataplanesPipe: Type<PipeTransform<RestRequest, DataplanesQuery>> = pipeOfKind(
  'MeshService',
  (request, kind) => {
    const query = readQuery(request, [...addressParameters(kind), ...OFFSET_PAGE_PARAMETERS, FRESHNESS]);
    const name = nameQuery(request, kind, meshInPath(request), query);
    const range = readOffsetPage(query);
    const minRevision = readMinRevision(query);
    query.check();
    return { name, range, minRevision };
  },
);

/** Decodes a service whose hostnames are wanted. Throws 404 for a kind that has none. */
@Injectable()
export class ServicePipe implements PipeTransform<RestRequest, NamedQuery> {
  constructor(
    @Inject(REGISTRY) private readonly registry: Registry,
    @Inject(QUERIES) private readonly queries: Queries,
  ) {}

  transform(request: RestRequest): NamedQuery {
    const { kind } = kindInPath(request, this.registry, true);
    this.queries.hostnames.checkHasHostnames(kind);
    return namedQuery(request, kind);
  }
}

/** Decodes a range of the table of hostnames. */
export class HostnamesPipe implements PipeTransform<RestRequest, HostnamesQuery> {
  transform(request: RestRequest): HostnamesQuery {
    const query = readQuery(request, HOSTNAME_PARAMETERS);
    const range = readOffsetPage(query);
    const zone = query.text('zone');
    const page = { containing: query.text('name') ?? '', ...range, ...(zone === undefined ? {} : { zone }) };
    const minRevision = readMinRevision(query);
    query.check();
    return { mesh: pathParameter(request, 'mesh'), page, range, minRevision };
  }
}

/** Decodes a question to DNS: `@Query(LookupPipe)`. */
export class LookupPipe implements PipeTransform<RawQuery, LookupQuery> {
  transform(raw: RawQuery): LookupQuery {
    const query = new QueryReader(raw, LOOKUP_PARAMETERS);
    const name = query.text('name');
    const type = query.text('type');
    if (name === undefined || name === '') query.refuse('name', 'must be given: the name to look up');
    const minRevision = readMinRevision(query);
    query.check();
    return { question: { name: name ?? '', ...(type === undefined ? {} : { type }) }, minRevision };
  }
}

/** Decodes the zone whose view is asked for: `@Query(ZoneOfViewPipe)`. */
export class ZoneOfViewPipe implements PipeTransform<RawQuery, string | undefined> {
  transform(raw: RawQuery): string | undefined {
    const query = new QueryReader(raw, [ZONE_OF_VIEW]);
    const zone = query.text('zone');
    query.check();
    return zone;
  }
}

/** Decodes the form of a document: `@Query(FormPipe)`. */
export class FormPipe implements PipeTransform<RawQuery, DocumentForm> {
  transform(raw: RawQuery): DocumentForm {
    const query = new QueryReader(raw, [FORMAT]);
    const form = readForm(query);
    query.check();
    return form;
  }
}

/** A hostname and the mesh that it is looked for in, where the body names one. */
export interface HostnameInMesh {
  readonly hostname: string;
  readonly mesh?: string;
}

/** Decodes the value of a body that names a hostname: `@Body(SmallBodyPipe, HostnameInMeshPipe)`. Throws Invalid. */
export class HostnameInMeshPipe implements PipeTransform<unknown, HostnameInMesh> {
  transform(body: unknown): HostnameInMesh {
    if (!isJsonObject(body)) throw new Invalid([FieldPath.at().violation('the body must be an object')]);
    const { hostname, mesh, ...rest } = body;
    const violations: Violation[] = Object.keys(rest).map((key) => FieldPath.at(key).violation('is not a known field'));
    if (mesh !== undefined && typeof mesh !== 'string')
      violations.unshift(FieldPath.at('mesh').violation('must be a string'));
    if (typeof hostname !== 'string' || hostname === '')
      violations.unshift(FieldPath.at('hostname').violation('must be a host name'));
    if (violations.length > 0 || typeof hostname !== 'string') throw new Invalid(violations);
    return { hostname, ...(typeof mesh === 'string' ? { mesh } : {}) };
  }
}

function namedQuery(request: RestRequest, kind: Kind): NamedQuery {
  const query = readQuery(request, [...addressParameters(kind), FRESHNESS]);
  const name = nameQuery(request, kind, meshInPath(request), query);
  const minRevision = readMinRevision(query);
  query.check();
  return { name, minRevision };
}

/** A pipe class for a route whose kind is not in its path; Nest injects the registry. */
function pipeOfKind<T>(
  kindName: string,
  decode: (request: RestRequest, kind: Kind) => T,
): Type<PipeTransform<RestRequest, T>> {
  @Injectable()
  class PipeOfKind implements PipeTransform<RestRequest, T> {
    constructor(@Inject(REGISTRY) private readonly registry: Registry) {}

    transform(request: RestRequest): T {
      const kind = this.registry.kind(kindName);
      if (!kind) throw new Error(`the registry has no ${kindName}`);
      return decode(request, kind);
    }
  }
  return PipeOfKind;
}

/** Decodes the range of a list without cursor, which has no other parameters. */
export class OffsetPagePipe implements PipeTransform<RestRequest, PageRange> {
  transform(request: RestRequest): PageRange {
    const query = readQuery(request, OFFSET_PAGE_PARAMETERS);
    const range = readOffsetPage(query);
    query.check();
    return range;
  }
}
