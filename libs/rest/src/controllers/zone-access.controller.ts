import { Controller, Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { send } from '../http/rest-response';
import { ZONE_ANSWERS } from '../tokens';
import type { ZoneTokenRequests } from '../zones/zone-requests';

/** How zones come to be let in. */
@Controller()
export class ZoneAccessController {
  constructor(@Inject(ZONE_ANSWERS) private readonly answers: ZoneTokenRequests) {}

  @Post('/tokens/zone')
  @HttpCode(200)
  async issue(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.answers.issue(request));
  }

  @Post('/tokens/zone/revocations')
  @HttpCode(200)
  async revoke(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.answers.revoke(request));
  }

  @Post('/tokens/zone/keys')
  @HttpCode(200)
  async rotate(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.answers.rotate(request));
  }

  @Get('/kds/ca')
  authority(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    send(reply, this.answers.authority(request));
  }
}
