import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { send } from '../http/answer';
import type { Doctor } from '../inspect/doctor';
import { DOCTOR } from '../tokens';

/** What is not as it should be. */
@Controller()
export class DoctorEndpoint {
  constructor(@Inject(DOCTOR) private readonly doctor: Doctor) {}

  @Get('/_doctor')
  async look(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.doctor.answer(request));
  }
}
