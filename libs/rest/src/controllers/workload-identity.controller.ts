import {
  Body,
  Controller,
  Get,
  HttpCode,
  Inject,
  Injectable,
  Post,
  Req,
  Res,
  UseGuards,
  type CanActivate,
} from '@nestjs/common';
import type { CallerRights, IssuedToken } from '@causeway/access';
import type { Queries } from '@causeway/queries';
import type { JsonObject } from '@causeway/resources';
import type { PageRange } from '@causeway/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access } from '../http/access.guard';
import { BodySizeGuard, ObjectBodyPipe } from '../http/body.pipes';
import { RequestAudit } from '../http/request-audit';
import { header } from '../http/rest-request';
import { FromRequest, NoQuery } from '../requests/decorators';
import { OffsetPagePipe } from '../requests/inspection.pipes';
import { RightsPipe } from '../requests/resource.pipes';
import { tableBody } from '../requests/responses';
import { QUERIES } from '../rest-dependencies';

/** Fields of a request for a dataplane token: Kuma's, and those of our grants. */
const TOKEN_FIELDS = ['name', 'mesh', 'tags', 'type', 'workload', 'validFor', 'namespace', 'services', 'machines'];

/** Answers 404 on a global, which has neither proxies nor a certificate authority, whatever the body is. */
@Injectable()
class ZoneOnlyGuard implements CanActivate {
  constructor(@Inject(QUERIES) private readonly queries: Queries) {}

  canActivate(): boolean {
    this.queries.dataplaneTokens.checkHere();
    return true;
  }
}

/** Serves workload identity in a zone: the tokens of proxies, and the certificate authority. */
@Controller()
@Access({ verb: 'create', kinds: ['DataplaneToken'] })
@UseGuards(BodySizeGuard)
export class WorkloadIdentityController {
  constructor(
    @Inject(QUERIES) private readonly queries: Queries,
    @Inject(RequestAudit) private readonly audit: RequestAudit,
  ) {}

  /**
   * Issues a token: the bare token as Kuma returns it, or with its id and end for a client that accepts JSON. The
   * caller needs the right in the mesh of the token, which is checked before anything else.
   */
  @Post('/tokens/dataplane')
  @Access('any-right')
  @NoQuery()
  @HttpCode(200)
  async issue(
    @Body(new ObjectBodyPipe(TOKEN_FIELDS)) parameters: JsonObject,
    @FromRequest(RightsPipe) rights: CallerRights,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<IssuedToken | string> {
    const { mesh, name, workload } = parameters;
    rights.check('create', { kind: 'DataplaneToken', mesh: typeof mesh === 'string' ? mesh : undefined });
    const issued = await this.queries.dataplaneTokens.issue(parameters, rights.caller.user);
    this.audit.note(request, [mesh, name || workload].filter((part) => typeof part === 'string').join('/'));
    // Set here and not by a decorator: a refusal does not carry it.
    void reply.header('cache-control', 'no-store');
    if (/\bapplication\/json\b/.test(header(request, 'accept') ?? '')) return issued;
    void reply.type('text/plain; charset=utf-8');
    return issued.token;
  }

  @Post('/tokens/dataplane/revocations')
  @UseGuards(ZoneOnlyGuard)
  @NoQuery()
  @HttpCode(200)
  async revoke(@Body(new ObjectBodyPipe(['id'])) { id }: JsonObject, @Req() request: FastifyRequest): Promise<object> {
    const warnings = await this.queries.dataplaneTokens.revoke(id);
    if (typeof id === 'string') this.audit.note(request, id);
    return { warnings };
  }

  @Post('/tokens/dataplane/keys')
  @UseGuards(ZoneOnlyGuard)
  @NoQuery()
  @HttpCode(200)
  async rotateKey(): Promise<{ readonly serial: number }> {
    return { serial: await this.queries.dataplaneTokens.rotate() };
  }

  @Get('/tokens/dataplane')
  @UseGuards(ZoneOnlyGuard)
  @Access({ verb: 'list', kinds: ['DataplaneToken'] })
  async tokens(@FromRequest(OffsetPagePipe) range: PageRange, @Req() request: FastifyRequest): Promise<object> {
    return tableBody(request, await this.queries.dataplaneTokens.list(range), range);
  }

  @Get('/_ca')
  @UseGuards(ZoneOnlyGuard)
  @Access({ verb: 'get', kinds: ['WorkloadAuthority'] })
  @NoQuery()
  authority(): Promise<JsonObject> {
    return this.queries.workloadAuthority.status();
  }

  /** Begins a rotation, forces the step that waits, or gives it up; without a body one begins with the usual deadline. */
  @Post('/_ca/rotation')
  @UseGuards(ZoneOnlyGuard)
  @Access({ verb: 'create', kinds: ['WorkloadAuthority'] })
  @NoQuery()
  @HttpCode(200)
  rotate(
    @Body(new ObjectBodyPipe(['deadline', 'force', 'abandon'], { optional: true })) order: JsonObject,
    @FromRequest(RightsPipe) { caller }: CallerRights,
  ): Promise<JsonObject> {
    return this.queries.workloadAuthority.order(order, caller.user);
  }
}
