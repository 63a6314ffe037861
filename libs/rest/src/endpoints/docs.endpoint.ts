import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { jsonText, send } from '../http/answer';
import { queryOf } from '../http/call';
import { DOCS_HEADERS, DOCS_PAGE } from '../openapi/docs-page';
import { OPENAPI } from '../tokens';

/** The OpenAPI document, and a page to browse it. */
@Controller()
export class DocsEndpoint {
  constructor(@Inject(OPENAPI) private readonly document: string) {}

  @Get('/openapi.json')
  openApi(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    queryOf(request, []).check();
    send(reply, jsonText(this.document));
  }

  @Get('/docs')
  page(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    queryOf(request, []).check();
    send(reply, { status: 200, headers: DOCS_HEADERS, body: DOCS_PAGE });
  }
}
