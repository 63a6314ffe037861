import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { send } from '../http/rest-response';
import type { ServerRequests } from '../inspect/server-requests';
import { FACTS } from '../tokens';

/** What the control plane says of itself. */
@Controller()
export class ServerController {
  constructor(@Inject(FACTS) private readonly facts: ServerRequests) {}

  @Get('/')
  root(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    send(reply, this.facts.root(request));
  }

  @Get('/_resources')
  kinds(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    send(reply, this.facts.kinds(request));
  }

  @Get('/_kri/:kri')
  async byKri(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.facts.byKri(request));
  }

  @Get('/who-am-i')
  caller(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    send(reply, this.facts.caller(request));
  }

  @Get('/config')
  config(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    send(reply, this.facts.config(request));
  }
}
