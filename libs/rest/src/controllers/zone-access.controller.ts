import {
  Body,
  Controller,
  Get,
  Header,
  HttpCode,
  Inject,
  Injectable,
  Post,
  Req,
  Res,
  UseGuards,
  type CanActivate,
} from '@nestjs/common';
import type { CallerRights, IssuedZoneToken } from '@causeway/access';
import type { Queries } from '@causeway/queries';
import type { JsonObject } from '@causeway/resources';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access } from '../http/access.guard';
import { BodySizeGuard, ObjectBodyPipe } from '../http/body.pipes';
import { FromRequest, NoQuery } from '../requests/decorators';
import { RightsPipe } from '../requests/resource.pipes';
import { RequestAudit } from '../http/request-audit';
import { header } from '../http/rest-request';
import { QUERIES } from '../rest-dependencies';

/** Answers 404 in a federated zone, whose global issues its zone tokens, whatever the body is. */
@Injectable()
class ZoneTokensGuard implements CanActivate {
  constructor(@Inject(QUERIES) private readonly queries: Queries) {}

  canActivate(): boolean {
    this.queries.zoneTokens.checkHere();
    return true;
  }
}

/** Zone tokens, and the certificate by which zones verify the global. */
@Controller()
@Access({ verb: 'create', kinds: ['ZoneToken'] })
@UseGuards(ZoneTokensGuard)
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
    @FromRequest(RightsPipe) { caller }: CallerRights,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<IssuedZoneToken | string> {
    const issued = await this.queries.zoneTokens.issue(parameters, caller.user);
    this.audit.note(request, issued.zone);
    // Set here and not by a decorator: a refusal does not carry it.
    void reply.header('cache-control', 'no-store');
    if (/\bapplication\/json\b/.test(header(request, 'accept') ?? '')) return issued;
    void reply.type('text/plain; charset=utf-8');
    return issued.token;
  }

  @Post('/tokens/zone/revocations')
  @HttpCode(200)
  async revoke(@Body(new ObjectBodyPipe(['id'])) { id }: JsonObject, @Req() request: FastifyRequest): Promise<object> {
    const warnings = await this.queries.zoneTokens.revoke(id);
    if (typeof id === 'string') this.audit.note(request, id);
    return { warnings };
  }

  @Post('/tokens/zone/keys')
  @HttpCode(200)
  async rotate(): Promise<{ readonly serial: number }> {
    return { serial: await this.queries.zoneTokens.rotate() };
  }

  /** Public: a certificate is no secret. */
  @Get('/kds/ca')
  @Access('public')
  @Header('content-type', 'application/x-pem-file')
  authority(): string {
    return this.queries.zoneTokens.authority();
  }
}
