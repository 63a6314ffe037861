import { Body, Controller, Get, HttpCode, Inject, Post, Req, UseGuards } from '@nestjs/common';
import type { CallerRights } from '@causeway/access';
import type { Queries } from '@causeway/queries';
import type { JsonObject } from '@causeway/resources';
import type { PageRange } from '@causeway/runtime';
import type { FastifyRequest } from 'fastify';
import { Access } from '../http/access.guard';
import { BodySizeGuard, ObjectBodyPipe } from '../http/body.pipes';
import { RequestAudit } from '../http/request-audit';
import { FromRequest, NoQuery } from '../requests/decorators';
import { OffsetPagePipe } from '../requests/inspection.pipes';
import { RightsPipe } from '../requests/resource.pipes';
import { tableBody } from '../requests/responses';
import { QUERIES } from '../rest-dependencies';

/** The machines of a zone that have joined, and the end of what they were granted (docs/reference/enrolments.md). */
@Controller()
@Access('any-right')
@UseGuards(BodySizeGuard)
export class WorkloadsController {
  constructor(
    @Inject(QUERIES) private readonly queries: Queries,
    @Inject(RequestAudit) private readonly audit: RequestAudit,
  ) {}

  /** `{total, items, next}`: those of namespaces in which the caller may list them. */
  @Get('/_workloads')
  list(
    @FromRequest(OffsetPagePipe) range: PageRange,
    @FromRequest(RightsPipe) rights: CallerRights,
    @Req() request: FastifyRequest,
  ): object {
    return tableBody(request, this.queries.workloads.list(range, rights), range);
  }

  /** Ends what one machine was granted; with `dryRun` says what that would end. */
  @Post('/_workloads/revocations')
  @NoQuery()
  @HttpCode(200)
  async revoke(
    @Body(new ObjectBodyPipe(['mesh', 'namespace', 'name', 'dryRun'])) fields: JsonObject,
    @FromRequest(RightsPipe) rights: CallerRights,
    @Req() request: FastifyRequest,
  ): Promise<JsonObject> {
    const answer = await this.queries.workloads.revoke(fields, rights);
    this.note(request, fields);
    if (fields['dryRun'] === true) this.audit.noteDryRun(request);
    return answer;
  }

  /** Lets stand what came back by its certificate after an import. */
  @Post('/_workloads/confirmations')
  @NoQuery()
  @HttpCode(200)
  async confirm(
    @Body(new ObjectBodyPipe(['mesh', 'namespace', 'name'])) fields: JsonObject,
    @FromRequest(RightsPipe) rights: CallerRights,
    @Req() request: FastifyRequest,
  ): Promise<JsonObject> {
    const answer = await this.queries.workloads.confirm(fields, rights);
    this.note(request, fields);
    return answer;
  }

  private note(request: FastifyRequest, { mesh, namespace, name }: JsonObject): void {
    this.audit.note(request, [mesh, namespace, name].filter((part) => typeof part === 'string').join('/'));
  }
}
