import { Controller, Get, Inject, Req } from '@nestjs/common';
import type { Queries } from '@causeway/queries';
import type { FastifyRequest } from 'fastify';
import { OperatorOnly } from '../http/access.guard';
import { AuditPipe, type AuditRequest } from '../requests/audit.pipe';
import { FromRequest } from '../requests/decorators';
import { nextPageUrl } from '../requests/responses';
import { QUERIES } from '../rest-dependencies';

/** The audit log: what users did, and what was refused to them. */
@Controller()
export class AuditController {
  constructor(@Inject(QUERIES) private readonly queries: Queries) {}

  /** `{items, next}`, newest first; there is no total: counting would read the whole log. */
  @Get('/_audit')
  @OperatorOnly('the audit log is shown')
  async list(@FromRequest(AuditPipe) wanted: AuditRequest, @Req() request: FastifyRequest): Promise<object> {
    const { items, next } = await this.queries.audit.page(wanted);
    const query = { size: String(wanted.size), cursor: next ?? '' };
    return { items, next: next === undefined ? null : nextPageUrl(request, query) };
  }
}
