import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { CallerRights } from '@causeway/access';
import { targetOfScope, type EventEncoder, type Queries } from '@causeway/queries';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access } from '../http/access.guard';
import { RequestAudit } from '../http/request-audit';
import { jsonHeaders, resourceHeaders, listBody } from '../requests/responses';
import { FromRequest } from '../requests/decorators';
import {
  GetPipe,
  ListPipe,
  RightsPipe,
  SignalPipe,
  type GetQuery,
  type ListQuery,
  type RequestSignal,
  type WatchQuery,
} from '../requests/resource.pipes';
import { EVENT_ENCODER, QUERIES } from '../rest-dependencies';
import { ReplySink } from './server-sent-events';

/**
 * GET of the resources of every kind, in one mesh and over all (docs/design.md §6). One controller serves all kinds:
 * the kinds are data of the registry, so that a new kind has its paths without a class of its own. Its pipes turn the
 * plural in the path into a Kind.
 */
@Controller()
export class ResourceController {
  constructor(
    @Inject(QUERIES) private readonly queries: Queries,
    @Inject(EVENT_ENCODER) private readonly encoder: EventEncoder,
    @Inject(RequestAudit) private readonly audit: RequestAudit,
  ) {}

  /** `{total, items, next}`, or with `watch=true` server-sent events for as long as the client reads. */
  @Get(['/:plural', '/meshes/:mesh/:plural'])
  @Access('list')
  async list(
    @FromRequest(ListPipe) wanted: ListQuery | WatchQuery,
    @FromRequest(SignalPipe) signal: RequestSignal,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (wanted.type === 'watch') return this.watch(wanted, request, reply);
    const result = await this.queries.resources.list(wanted, signal);
    const text = listBody(request, wanted.page, result, (one) => this.queries.json.listed(one, wanted.format));
    void reply.headers(jsonHeaders(result.revision)).send(text);
  }

  /** One resource by its plain name or its name on the KDS wire, with its ETag. */
  @Get(['/:plural/:name', '/meshes/:mesh/:plural/:name'])
  @Access('any-right')
  async get(
    @FromRequest(GetPipe) { name, format, minRevision }: GetQuery,
    @FromRequest(RightsPipe) rights: CallerRights,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const resource = await this.queries.resources.get(name, rights, minRevision);
    const text = this.queries.json.encode(resource, format);
    // Sent here: this is the hottest route, and what Nest does with a returned value costs 2 µs.
    void reply.headers(resourceHeaders(resource)).send(text);
  }

  /** Server-sent events, until the client is gone or may not have them any more. */
  private async watch({ watch }: WatchQuery, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const sink = new ReplySink(reply, this.encoder);
    const access = this.audit.callers.watch(request, (reason) => sink.refuse(reason));
    try {
      access.needs('watch', targetOfScope(watch.scope));
      await this.queries.watches.serve(watch, sink);
    } finally {
      access.close();
    }
    if (sink.refusal) this.audit.refused(request, sink.refusal.status, sink.gone.reason);
  }
}
