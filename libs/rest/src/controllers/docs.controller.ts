import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { jsonTextResponse, send } from '../http/rest-response';
import { queryOf } from '../http/rest-request';
import { DOCS_HEADERS, DOCS_PAGE } from '../openapi/docs-page';
import { OPENAPI } from '../tokens';

/** The OpenAPI document, and a page to browse it. */
@Controller()
export class DocsController {
  constructor(@Inject(OPENAPI) private readonly document: string) {}

  @Get('/openapi.json')
  openApi(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    queryOf(request, []).check();
    send(reply, jsonTextResponse(this.document));
  }

  @Get('/docs')
  page(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    queryOf(request, []).check();
    send(reply, { status: 200, headers: DOCS_HEADERS, body: DOCS_PAGE });
  }
}
