import { Controller, Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { send } from '../http/rest-response';
import type { InspectionRequests } from '../inspect/inspection-requests';
import { INSPECTIONS } from '../tokens';

/** Views over resources that no single resource shows. */
@Controller()
export class InspectionController {
  constructor(@Inject(INSPECTIONS) private readonly inspections: InspectionRequests) {}

  @Get(['/zones+insights', '/zones/_overview'])
  async zones(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.inspections.zones(request));
  }

  @Get(['/zones+insights/:name', '/zones/:name/_overview'])
  async zone(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.inspections.zone(request));
  }

  @Get([
    '/dataplanes+insights',
    '/dataplanes/_overview',
    '/meshes/:mesh/dataplanes+insights',
    '/meshes/:mesh/dataplanes/_overview',
  ])
  async dataplanes(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.inspections.dataplanes(request));
  }

  @Get(['/meshes/:mesh/dataplanes+insights/:name', '/meshes/:mesh/dataplanes/:name/_overview'])
  async dataplane(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.inspections.dataplane(request));
  }

  @Get('/meshes/:mesh/:plural/:name/_hostnames')
  async hostnamesOf(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.inspections.hostnamesOf(request));
  }

  @Get(['/meshes/:mesh/meshservices/:name/_dataplanes', '/meshes/:mesh/meshservices/:name/_resources/dataplanes'])
  async dataplanesOf(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.inspections.dataplanesOf(request));
  }

  @Get('/meshes/:mesh/hostnames')
  async hostnames(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.inspections.hostnames(request));
  }

  @Get('/_dns/lookup')
  async lookup(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.inspections.lookup(request));
  }

  @Post('/_explain/hostname')
  @HttpCode(200)
  async explain(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.inspections.explain(request));
  }
}
