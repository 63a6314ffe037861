import { Controller, Delete, Get, Inject, Patch, Put, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EventEncoder } from '@causeway/queries';
import { EVENT_ENCODER, READS, WATCHES, WRITES } from '../tokens';
import { send } from '../http/rest-response';
import type { ResourceReads } from '../read/resource-reads';
import { replySink } from '../watch/server-sent-events';
import { wantsWatch, type WatchRequests } from '../watch/watch-requests';
import type { ResourceWrites } from '../write/resource-writes';

/** The one endpoint for every kind of the registry, in one mesh and over all (design.md §6). */
@Controller()
export class ResourceController {
  constructor(
    @Inject(READS) private readonly reads: ResourceReads,
    @Inject(WATCHES) private readonly watches: WatchRequests,
    @Inject(EVENT_ENCODER) private readonly encoder: EventEncoder,
    @Inject(WRITES) private readonly writes: ResourceWrites,
  ) {}

  @Get(['/:plural', '/meshes/:mesh/:plural'])
  async list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    if (wantsWatch(request)) await this.watches.serve(request, replySink(reply, this.encoder));
    else send(reply, await this.reads.list(request));
  }

  @Get(['/:plural/:name', '/meshes/:mesh/:plural/:name'])
  async get(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.reads.get(request));
  }

  @Put(['/:plural/:name', '/meshes/:mesh/:plural/:name'])
  async put(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.writes.put(request));
  }

  @Patch(['/:plural/:name', '/meshes/:mesh/:plural/:name'])
  async patch(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.writes.patch(request));
  }

  @Delete(['/:plural/:name', '/meshes/:mesh/:plural/:name'])
  async remove(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.writes.remove(request));
  }
}
