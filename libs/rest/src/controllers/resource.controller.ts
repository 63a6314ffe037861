import { Controller, Delete, Get, Inject, Patch, Put, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { READS, WATCHES, WRITES } from '../tokens';
import { send } from '../http/rest-response';
import type { ResourceReads } from '../read/resource-reads';
import { replySink } from '../watch/sink';
import { wantsWatch, type Watches } from '../watch/watches';
import type { ResourceWrites } from '../write/resource-writes';

/** The one endpoint for every kind of the registry, in one mesh and over all (design.md §6). */
@Controller()
export class ResourceController {
  constructor(
    @Inject(READS) private readonly reads: ResourceReads,
    @Inject(WATCHES) private readonly watches: Watches,
    @Inject(WRITES) private readonly writes: ResourceWrites,
  ) {}

  @Get(['/:plural', '/meshes/:mesh/:plural'])
  async list(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    if (wantsWatch(request)) await this.watches.serve(request, replySink(reply));
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
