import { Controller, Get, Inject, Param, Query, Req, Res } from '@nestjs/common';
import type { DoctorReport, Queries } from '@causeway/queries';
import type { JsonObject, JsonValue } from '@causeway/resources';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CallerAuthorizer } from '../http/caller-authorizer';
import { OperatorOnly } from '../http/access.guard';
import { resourceHeaders } from '../requests/responses';
import { FromRequest, NoQuery } from '../requests/decorators';
import { FormPipe } from '../requests/inspection.pipes';
import type { DocumentForm } from '../requests/request-decoding';
import { SignalPipe, type RequestSignal } from '../requests/resource.pipes';
import { QUERIES } from '../rest-dependencies';

/** Where to go on from the root. */
const LINKS = {
  resources: '/_resources',
  openapi: '/openapi.json',
  docs: '/docs',
  config: '/config',
  whoAmI: '/who-am-i',
} as const;

/** What a control plane says of itself (docs/reference/kuma-rest.md §1.2). */
@Controller()
export class ServerController {
  constructor(
    @Inject(QUERIES) private readonly queries: Queries,
    @Inject(CallerAuthorizer) private readonly authorizer: CallerAuthorizer,
  ) {}

  /** Product, role and replica, with links. */
  @Get('/')
  @NoQuery()
  root(): JsonObject {
    return { ...this.queries.server.server(), links: LINKS };
  }

  /** Every kind, by name. */
  @Get('/_resources')
  @NoQuery()
  kinds(): JsonObject {
    return { resources: this.queries.server.kinds() };
  }

  /** The resource that an identifier names; 400 for text that is no identifier. */
  @Get('/_kri/:kri')
  async byKri(
    @Param('kri') kri: string,
    @Query(FormPipe) form: DocumentForm,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const resource = await this.queries.resources.byKri(kri);
    const text = this.queries.json.encode(resource, { form });
    void reply.headers(resourceHeaders(resource));
    return text;
  }

  /** Whom the server takes the caller for. */
  @Get('/who-am-i')
  @NoQuery()
  caller(@Req() request: FastifyRequest): JsonObject {
    return this.authorizer.isOperator(request)
      ? { name: 'operator', groups: ['operators'] }
      : { name: 'anonymous', groups: [] };
  }

  /** The configuration without secrets. */
  @Get('/config')
  @NoQuery()
  config(): JsonValue {
    return this.queries.server.config();
  }

  /** What is wrong, and what to do about it. */
  @Get('/_doctor')
  @OperatorOnly('what is wrong with a control plane is shown')
  @NoQuery()
  diagnose(@FromRequest(SignalPipe) signal: RequestSignal): Promise<DoctorReport> {
    return this.queries.doctor.report(signal());
  }
}
