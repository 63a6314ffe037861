import { Controller, Get, Header, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Access } from '../http/access.guard';
import { JSON_TYPE } from '../requests/responses';
import { DOCS_HEADERS, DOCS_PAGE } from '../openapi/docs-page';
import { NoQuery } from '../requests/decorators';
import { OPENAPI } from '../rest-dependencies';

/** The OpenAPI document, and a page to browse it. */
@Controller()
@NoQuery()
@Access('public')
export class DocsController {
  constructor(@Inject(OPENAPI) private readonly document: () => string) {}

  @Get('/openapi.json')
  @Header('content-type', JSON_TYPE)
  openApi(): string {
    return this.document();
  }

  @Get('/docs')
  page(@Res({ passthrough: true }) reply: FastifyReply): string {
    void reply.headers(DOCS_HEADERS);
    return DOCS_PAGE;
  }
}
