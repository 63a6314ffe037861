import { Controller, Get, Inject, Req } from '@nestjs/common';
import type { CallerRights } from '@causeway/access';
import type { Queries } from '@causeway/queries';
import type { JsonObject } from '@causeway/resources';
import type { FastifyRequest } from 'fastify';
import { Access } from '../http/access.guard';
import { FromRequest } from '../requests/decorators';
import { ProxiesPipe, ProxyPipe, type ProxiesQuery, type ProxyQuery } from '../requests/proxies.pipes';
import { RightsPipe, SignalPipe, type RequestSignal } from '../requests/resource.pipes';
import { tableBody } from '../requests/responses';
import { QUERIES } from '../rest-dependencies';

/** The proxies of a zone: connected, what they hold, what they rejected (docs/reference/proxies.md). */
@Controller()
export class ProxiesController {
  constructor(@Inject(QUERIES) private readonly queries: Queries) {}

  /** `{total, items, next}`: those whose Dataplanes the caller may list. */
  @Get('/_proxies')
  @Access('any-right')
  async list(
    @FromRequest(ProxiesPipe) { selection, range }: ProxiesQuery,
    @FromRequest(RightsPipe) rights: CallerRights,
    @FromRequest(SignalPipe) signal: RequestSignal,
    @Req() request: FastifyRequest,
  ): Promise<object> {
    return tableBody(request, await this.queries.proxies.page(selection, range, rights, signal()), range);
  }

  @Get('/_proxies/:mesh/:name')
  @Access('any-right')
  proxy(@FromRequest(ProxyPipe) wanted: ProxyQuery, @FromRequest(RightsPipe) rights: CallerRights): JsonObject {
    return this.queries.proxies.one(wanted, rights);
  }
}
