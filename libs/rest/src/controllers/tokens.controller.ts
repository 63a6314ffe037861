import { Body, Controller, Get, HttpCode, Inject, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { CallerRights, IssuedUserToken } from '@causeway/access';
import type { Queries } from '@causeway/queries';
import type { JsonObject } from '@causeway/resources';
import type { PageRange } from '@causeway/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access } from '../http/access.guard';
import { BodySizeGuard, ObjectBodyPipe } from '../http/body.pipes';
import { RequestAudit } from '../http/request-audit';
import { header } from '../http/rest-request';
import { FromRequest, NoQuery } from '../requests/decorators';
import { OffsetPagePipe } from '../requests/inspection.pipes';
import { RightsPipe } from '../requests/resource.pipes';
import { tableBody } from '../requests/responses';
import { QUERIES } from '../rest-dependencies';

/** User tokens, and which tokens were issued. */
@Controller()
@Access({ verb: 'create', kinds: ['UserToken'] })
@UseGuards(BodySizeGuard)
export class TokensController {
  constructor(
    @Inject(QUERIES) private readonly queries: Queries,
    @Inject(RequestAudit) private readonly audit: RequestAudit,
  ) {}

  /** A new token: the bare token as Kuma returns it, or with its id and end for a client that accepts JSON. */
  @Post('/tokens/user')
  @NoQuery()
  @HttpCode(200)
  async issue(
    @Body(new ObjectBodyPipe(['name', 'groups', 'validFor'])) parameters: JsonObject,
    @FromRequest(RightsPipe) { caller }: CallerRights,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<IssuedUserToken | string> {
    const issued = await this.queries.userTokens.issue(parameters, caller.user);
    this.audit.note(request, issued.name);
    // Set here and not by a decorator: a refusal does not carry it.
    void reply.header('cache-control', 'no-store');
    if (/\bapplication\/json\b/.test(header(request, 'accept') ?? '')) return issued;
    void reply.type('text/plain; charset=utf-8');
    return issued.token;
  }

  @Post('/tokens/user/revocations')
  @NoQuery()
  @HttpCode(200)
  async revoke(@Body(new ObjectBodyPipe(['id'])) { id }: JsonObject, @Req() request: FastifyRequest): Promise<object> {
    const warnings = await this.queries.userTokens.revoke(id);
    if (typeof id === 'string') this.audit.note(request, id);
    return { warnings };
  }

  @Post('/tokens/user/keys')
  @NoQuery()
  @HttpCode(200)
  async rotate(): Promise<{ readonly serial: number }> {
    return { serial: await this.queries.userTokens.rotate() };
  }

  @Get('/tokens/user')
  @Access({ verb: 'list', kinds: ['UserToken'] })
  async userTokens(@FromRequest(OffsetPagePipe) range: PageRange, @Req() request: FastifyRequest): Promise<object> {
    return tableBody(request, await this.queries.userTokens.list(range), range);
  }

  @Get('/tokens/zone')
  @Access({ verb: 'list', kinds: ['ZoneToken'] })
  async zoneTokens(@FromRequest(OffsetPagePipe) range: PageRange, @Req() request: FastifyRequest): Promise<object> {
    return tableBody(request, await this.queries.zoneTokens.list(range), range);
  }
}
