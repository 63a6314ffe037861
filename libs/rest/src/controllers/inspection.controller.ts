import { Body, Controller, Get, HttpCode, Inject, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import type { CallerRights } from '@causeway/access';
import { KINDS_WITH_HOSTNAMES, type Queries, type ResolvedHostname } from '@causeway/queries';
import type { JsonObject } from '@causeway/resources';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access } from '../http/access.guard';
import { BodySizeGuard, SmallBodyPipe } from '../http/body.pipes';
import { jsonHeaders, listBody, tableBody } from '../requests/responses';
import { FromRequest } from '../requests/decorators';
import {
  DataplanesPipe,
  HostnameInMeshPipe,
  HostnamesPipe,
  LookupPipe,
  NamedPipe,
  OverviewsPipe,
  ServicePipe,
  ZoneOfViewPipe,
  type DataplanesQuery,
  type HostnameInMesh,
  type HostnamesQuery,
  type LookupQuery,
  type NamedQuery,
  type OverviewsQuery,
} from '../requests/inspection.pipes';
import { RightsPipe, SignalPipe, type RequestSignal } from '../requests/resource.pipes';
import { QUERIES } from '../rest-dependencies';

/** Views that join several resources, or a resource and its insight (docs/reference/kuma-rest.md §1.4, §1.5). */
@Controller()
export class InspectionController {
  constructor(@Inject(QUERIES) private readonly queries: Queries) {}

  @Get(['/zones+insights', '/zones/_overview'])
  @Access({ verb: 'list', kinds: ['Zone'] })
  zones(
    @FromRequest(OverviewsPipe('Zone')) wanted: OverviewsQuery,
    @FromRequest(SignalPipe) signal: RequestSignal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.overviews(wanted, signal, request, reply);
  }

  @Get(['/zones+insights/:name', '/zones/:name/_overview'])
  @Access('any-right')
  zone(
    @FromRequest(NamedPipe('Zone')) { name, minRevision }: NamedQuery,
    @FromRequest(RightsPipe) rights: CallerRights,
  ): Promise<JsonObject> {
    return this.queries.inspections.overview(name, rights, minRevision);
  }

  @Get([
    '/dataplanes+insights',
    '/dataplanes/_overview',
    '/meshes/:mesh/dataplanes+insights',
    '/meshes/:mesh/dataplanes/_overview',
  ])
  @Access({ verb: 'list', kinds: ['Dataplane'] })
  dataplanes(
    @FromRequest(OverviewsPipe('Dataplane')) wanted: OverviewsQuery,
    @FromRequest(SignalPipe) signal: RequestSignal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.overviews(wanted, signal, request, reply);
  }

  @Get(['/meshes/:mesh/dataplanes+insights/:name', '/meshes/:mesh/dataplanes/:name/_overview'])
  @Access('any-right')
  dataplane(
    @FromRequest(NamedPipe('Dataplane')) { name, minRevision }: NamedQuery,
    @FromRequest(RightsPipe) rights: CallerRights,
  ): Promise<JsonObject> {
    return this.queries.inspections.overview(name, rights, minRevision);
  }

  /** The hostnames that a service has. */
  @Get('/meshes/:mesh/:plural/:name/_hostnames')
  @Access('any-right')
  async hostnamesOf(
    @FromRequest(ServicePipe) { name, minRevision }: NamedQuery,
    @FromRequest(RightsPipe) rights: CallerRights,
  ): Promise<object> {
    const items = await this.queries.hostnames.ofService(name, rights, minRevision);
    return { total: items.length, items };
  }

  /** The Dataplanes that a MeshService selects. */
  @Get(['/meshes/:mesh/meshservices/:name/_dataplanes', '/meshes/:mesh/meshservices/:name/_resources/dataplanes'])
  @Access('any-right')
  async dataplanesOf(
    @FromRequest(DataplanesPipe) { name, range, minRevision }: DataplanesQuery,
    @FromRequest(RightsPipe) rights: CallerRights,
    @FromRequest(SignalPipe) signal: RequestSignal,
    @Req() request: FastifyRequest,
  ): Promise<object> {
    const table = await this.queries.inspections.dataplanesOf(name, rights, { range, minRevision }, signal());
    return tableBody(request, table, range);
  }

  /** The table of all hostnames of a mesh. */
  @Get('/meshes/:mesh/hostnames')
  @Access({ verb: 'list', kinds: KINDS_WITH_HOSTNAMES })
  async hostnames(
    @FromRequest(HostnamesPipe) wanted: HostnamesQuery,
    @FromRequest(SignalPipe) signal: RequestSignal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const table = await this.queries.hostnames.table(wanted, signal());
    void reply.header('causeway-revision', String(table.revision));
    return tableBody(request, table, wanted.range);
  }

  /** Returns the answer of the zone's DNS server, and the reason. */
  @Get('/_dns/lookup')
  @Access({ verb: 'list', kinds: KINDS_WITH_HOSTNAMES })
  lookup(@Query(LookupPipe) { question, minRevision }: LookupQuery): Promise<JsonObject> {
    return this.queries.hostnames.lookup(question, minRevision);
  }

  /** Returns the claims on a hostname, and which of them wins by which rule. */
  @Post('/_explain/hostname')
  @HttpCode(200)
  @Access('any-right')
  @UseGuards(BodySizeGuard)
  explain(
    @Query(ZoneOfViewPipe) zone: string | undefined,
    @Body(SmallBodyPipe, HostnameInMeshPipe) { hostname, mesh = this.queries.defaultMesh }: HostnameInMesh,
    @FromRequest(RightsPipe) rights: CallerRights,
    @FromRequest(SignalPipe) signal: RequestSignal,
  ): Promise<JsonObject> {
    const question = { hostname, mesh, ...(zone === undefined ? {} : { zone }) };
    return this.queries.hostnames.explain(question, rights, undefined, signal());
  }

  /** The service that has a hostname, its virtual IPs and where it runs. */
  @Post('/_resolve/hostname')
  @HttpCode(200)
  @Access('any-right')
  @UseGuards(BodySizeGuard)
  resolve(
    @Query(ZoneOfViewPipe) zone: string | undefined,
    @Body(SmallBodyPipe, HostnameInMeshPipe) { hostname, mesh = this.queries.defaultMesh }: HostnameInMesh,
    @FromRequest(RightsPipe) rights: CallerRights,
    @FromRequest(SignalPipe) signal: RequestSignal,
  ): Promise<ResolvedHostname> {
    const question = { hostname, mesh, ...(zone === undefined ? {} : { zone }) };
    return this.queries.resolution.resolve(question, rights, undefined, signal());
  }

  private async overviews(
    wanted: OverviewsQuery,
    signal: RequestSignal,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<string> {
    const result = await this.queries.inspections.overviews(wanted.kind, wanted, signal);
    const text = listBody(request, wanted.page, result, (_, i) => JSON.stringify(result.overviews[i]));
    void reply.headers(jsonHeaders(result.revision));
    return text;
  }
}
