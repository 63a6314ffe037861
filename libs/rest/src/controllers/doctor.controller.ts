import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { send } from '../http/rest-response';
import type { ServerRequests } from '../inspect/server-requests';
import { FACTS } from '../tokens';

/** What is not as it should be. */
@Controller()
export class DoctorController {
  constructor(@Inject(FACTS) private readonly facts: ServerRequests) {}

  @Get('/_doctor')
  async diagnose(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.facts.doctor(request));
  }
}
