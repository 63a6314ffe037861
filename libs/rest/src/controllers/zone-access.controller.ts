import {
  Body,
  Controller,
  Get,
  Header,
  Headers,
  HttpCode,
  Inject,
  Injectable,
  Post,
  Req,
  Res,
  UseGuards,
  type CanActivate,
} from '@nestjs/common';
import type { IssuedZoneToken } from '@causeway/access';
import type { Queries } from '@causeway/queries';
import type { JsonObject } from '@causeway/resources';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BodySizeGuard, ObjectBodyPipe } from '../http/body.pipes';
import { RequestAudit } from '../http/request-audit';
import { NoQuery } from '../requests/decorators';
import { QUERIES } from '../rest-dependencies';

/** Answers 404 on a zone, which lets nobody in, whatever the body is. */
@Injectable()
class GlobalOnlyGuard implements CanActivate {
  constructor(@Inject(QUERIES) private readonly queries: Queries) {}

  canActivate(): boolean {
    this.queries.zoneTokens.checkHere();
    return true;
  }
}

/** Zone tokens, and the certificate by which zones verify the global; AccessGuard leaves the POSTs to the operator. */
@Controller()
@UseGuards(GlobalOnlyGuard)
@NoQuery()
@UseGuards(BodySizeGuard)
export class ZoneAccessController {
  constructor(
    @Inject(QUERIES) private readonly queries: Queries,
    @Inject(RequestAudit) private readonly audit: RequestAudit,
  ) {}

  /** A new token: the bare token as Kuma returns it, or with its id and end for a client that accepts JSON. */
  @Post('/tokens/zone')
  @HttpCode(200)
  async issue(
    @Body(new ObjectBodyPipe(['zone', 'validFor', 'scope'])) parameters: JsonObject,
    @Headers('accept') accept: string | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<IssuedZoneToken | string> {
    const issued = await this.queries.zoneTokens.issue(parameters);
    this.audit.note(request, issued.zone);
    // Set here and not by a decorator: a refusal does not carry it.
    void reply.header('cache-control', 'no-store');
    if (/\bapplication\/json\b/.test(accept ?? '')) return issued;
    void reply.type('text/plain; charset=utf-8');
    return issued.token;
  }

  @Post('/tokens/zone/revocations')
  @HttpCode(200)
  async revoke(@Body(new ObjectBodyPipe(['id'])) { id }: JsonObject, @Req() request: FastifyRequest): Promise<object> {
    await this.queries.zoneTokens.revoke(id);
    if (typeof id === 'string') this.audit.note(request, id);
    return {};
  }

  @Post('/tokens/zone/keys')
  @HttpCode(200)
  async rotate(): Promise<{ readonly serial: number }> {
    return { serial: await this.queries.zoneTokens.rotate() };
  }

  /** Public: a certificate is no secret. */
  @Get('/kds/ca')
  @Header('content-type', 'application/x-pem-file')
  authority(): string {
    return this.queries.zoneTokens.authority();
  }
}
