import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { send } from '../http/rest-response';
import type { Doctor } from '../inspect/doctor';
import { DOCTOR } from '../tokens';

/** What is not as it should be. */
@Controller()
export class DoctorController {
  constructor(@Inject(DOCTOR) private readonly doctor: Doctor) {}

  @Get('/_doctor')
  async diagnose(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    send(reply, await this.doctor.answer(request));
  }
}
