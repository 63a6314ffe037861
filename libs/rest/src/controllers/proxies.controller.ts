import { Controller, Get, HttpCode, Inject, Post, Req } from '@nestjs/common';
import type { CallerRights } from '@causeway/access';
import type { Queries } from '@causeway/queries';
import type { JsonObject } from '@causeway/resources';
import type { PageRange } from '@causeway/runtime';
import type { FastifyRequest } from 'fastify';
import { Access } from '../http/access.guard';
import { FromRequest, NoQuery } from '../requests/decorators';
import { OffsetPagePipe } from '../requests/inspection.pipes';
import { ProxiesPipe, ProxyPipe, type ProxiesQuery, type ProxyQuery } from '../requests/proxies.pipes';
import { RightsPipe, SignalPipe, type RequestSignal } from '../requests/resource.pipes';
import { tableBody } from '../requests/responses';
import { QUERIES } from '../rest-dependencies';

/** The proxies of a zone (docs/reference/proxies.md), and the leases of its agents (docs/reference/leases.md). */
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

  /** `{total, items, next, hold}`: `hold` where too many end at once. */
  @Get('/_leases')
  @Access({ verb: 'list', kinds: ['Dataplane'] })
  async leases(@FromRequest(OffsetPagePipe) range: PageRange, @Req() request: FastifyRequest): Promise<object> {
    const { hold, ...page } = await this.queries.leases.page(range);
    return { ...tableBody(request, page, range), ...(hold && { hold }) };
  }

  /** Lets the leader end what has expired until now. */
  @Post('/_leases/release')
  @Access({ verb: 'delete', kinds: ['Dataplane'] })
  @NoQuery()
  @HttpCode(200)
  release(@FromRequest(RightsPipe) { caller }: CallerRights): Promise<{ readonly released: number }> {
    return this.queries.leases.release(caller.user);
  }
}
