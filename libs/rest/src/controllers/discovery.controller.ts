import { Controller, Get, Inject, Res } from '@nestjs/common';
import type { CallerRights } from '@causeway/access';
import type { DiscoveryDocument, Queries } from '@causeway/queries';
import type { FastifyReply } from 'fastify';
import { Access } from '../http/access.guard';
import { FromRequest } from '../requests/decorators';
import { HostsPipe, TargetsPipe, type HostsQuery, type TargetsQuery } from '../requests/discovery.pipes';
import { RightsPipe, SignalPipe, type RequestSignal } from '../requests/resource.pipes';
import { JSON_TYPE } from '../requests/responses';
import { QUERIES } from '../rest-dependencies';

/** Services in the formats of programs that know nothing of meshes (docs/guides/without-proxy.md). */
@Controller()
export class DiscoveryController {
  constructor(@Inject(QUERIES) private readonly queries: Queries) {}

  /** Targets in the form of Prometheus' `http_sd`: those that the caller may list. */
  @Get('/discovery/prometheus')
  @Access('any-right')
  async prometheus(
    @FromRequest(TargetsPipe) { selection, minRevision, held }: TargetsQuery,
    @FromRequest(RightsPipe) rights: CallerRights,
    @FromRequest(SignalPipe) signal: RequestSignal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const found = await this.queries.discovery.prometheus(selection, rights, minRevision, signal());
    return answer(found, { type: JSON_TYPE, held }, reply);
  }

  /** Hostnames and virtual IPs in the form of /etc/hosts. */
  @Get('/discovery/hosts')
  @Access('any-right')
  async hosts(
    @FromRequest(HostsPipe) { mesh = this.queries.defaultMesh, minRevision, held }: HostsQuery,
    @FromRequest(RightsPipe) rights: CallerRights,
    @FromRequest(SignalPipe) signal: RequestSignal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const found = await this.queries.discovery.hosts(mesh, rights, minRevision, signal());
    return answer(found, { type: 'text/plain; charset=utf-8', held }, reply);
  }
}

/** The document, or 304 to a client that has it. */
function answer(
  { body, etag, revision }: DiscoveryDocument,
  { type, held }: { readonly type: string; readonly held: readonly string[] },
  reply: FastifyReply,
): string {
  void reply.headers({ etag, 'causeway-revision': String(revision) });
  if (held.includes(etag) || held.includes('*')) {
    void reply.status(304);
    return '';
  }
  void reply.header('content-type', type);
  return body;
}
