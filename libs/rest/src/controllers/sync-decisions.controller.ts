import { Controller, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { send } from '../http/rest-response';
import { SYNC_ANSWERS } from '../tokens';
import type { SyncDecisionRequests } from '../zones/zone-requests';

/** What the operator decides of sync. */
@Controller()
export class SyncDecisionsController {
  constructor(@Inject(SYNC_ANSWERS) private readonly answers: SyncDecisionRequests) {}

  @Post('/zones/:name/_confirm')
  @HttpCode(200)
  async confirmZone(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.answers.confirmZone(request));
  }

  @Post('/zones/:name/_adopt')
  @HttpCode(200)
  async adoptZone(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.answers.adoptZone(request));
  }

  @Post('/zones/:name/_reset-epoch')
  @HttpCode(200)
  async resetEpoch(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.answers.resetEpoch(request));
  }

  @Post('/global/_confirm')
  @HttpCode(200)
  async confirmGlobal(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.answers.confirmGlobal(request));
  }
}
