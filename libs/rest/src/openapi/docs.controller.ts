import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Access } from '../http/access.guard';
import { readQuery } from '../http/query-reader';
import type { RestRequest } from '../http/rest-request';
import { DOCS_HEADERS, DOCS_PAGE } from './docs-page';

/** Serves a page to browse the OpenAPI document; it is for people, so it is not an operation in the document. */
@Controller()
export class DocsController {
  @Get('/docs')
  @Access('public')
  page(@Req() request: RestRequest, @Res({ passthrough: true }) reply: FastifyReply): string {
    readQuery(request, {}).check();
    void reply.headers(DOCS_HEADERS);
    return DOCS_PAGE;
  }
}
