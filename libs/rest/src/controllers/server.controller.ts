import { Controller, Get, Header, Inject, Param, Query, Res } from '@nestjs/common';
import { AccessReviews, type DoctorReport, type Queries } from '@causeway/queries';
import { NotFound, type JsonObject, type JsonValue } from '@causeway/resources';
import type { FastifyReply } from 'fastify';
import type { Caller, CallerRights, HeldRole } from '@causeway/access';
import { Access } from '../http/access.guard';
import { resourceHeaders } from '../requests/responses';
import { FromRequest, NoQuery } from '../requests/decorators';
import { FormPipe } from '../requests/inspection.pipes';
import type { DocumentForm } from '../http/request-decoding';
import { RightsPipe, SignalPipe, type RequestSignal } from '../requests/resource.pipes';
import { AUTHORITY, QUERIES } from '../rest-dependencies';

/** Links from the root. */
const LINKS = {
  resources: '/_resources',
  openapi: '/openapi.json',
  docs: '/docs',
  config: '/config',
  whoAmI: '/who-am-i',
} as const;

/** The answer of `/who-am-i`. */
interface RecognisedCaller extends Pick<Caller, 'groups' | 'by'> {
  readonly name: string;
  readonly roles: readonly HeldRole[];
}

/** Serves facts about the control plane itself (docs/reference/kuma-rest.md §1.2). */
@Controller()
export class ServerController {
  constructor(
    @Inject(QUERIES) private readonly queries: Queries,
    @Inject(AUTHORITY) private readonly findAuthority: () => string | undefined,
    @Inject(AccessReviews) private readonly reviews: AccessReviews,
  ) {}

  /** Product, role and replica, with links. */
  @Get('/')
  @Access('public')
  @NoQuery()
  root(): JsonObject {
    return { ...this.queries.server.server(), links: LINKS };
  }

  /** Returns the authority by which clients verify this server, or its other ports if it has no TLS itself. */
  @Get('/rest/ca')
  @Access('public')
  @NoQuery()
  @Header('content-type', 'application/x-pem-file')
  authority(): string {
    const pem = this.findAuthority();
    if (pem !== undefined) return pem;
    throw new NotFound(
      'This server is verified by no authority of its own; ask whoever issued its certificate, if it has one.',
    );
  }

  /** Returns every kind, by name, and the default mesh of requests that name none. */
  @Get('/_resources')
  @Access('any-right')
  @NoQuery()
  kinds(): JsonObject {
    return { resources: this.queries.server.kinds(), defaultMesh: this.queries.defaultMesh };
  }

  /** The resource that an identifier names; 400 for text that is no identifier. */
  @Get('/_kri/:kri')
  @Access('any-right')
  async byKri(
    @Param('kri') kri: string,
    @Query(FormPipe) form: DocumentForm,
    @FromRequest(RightsPipe) rights: CallerRights,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const resource = await this.queries.resources.byKri(kri, rights);
    const text = this.queries.json.encode(resource, { form });
    void reply.headers(resourceHeaders(resource));
    return text;
  }

  /** Returns the caller as the server authenticated it, and its roles. */
  @Get('/who-am-i')
  @Access('public')
  @NoQuery()
  caller(@FromRequest(RightsPipe) { caller }: CallerRights): RecognisedCaller {
    const { user: name, groups, by } = caller;
    return { name, groups, by, roles: this.reviews.rolesOf(caller) };
  }

  /** The configuration without secrets. */
  @Get('/config')
  @Access({ verb: 'get', kinds: ['Configuration'] })
  @NoQuery()
  config(): JsonValue {
    return this.queries.server.config();
  }

  /** Returns faults and their remedies. */
  @Get('/_doctor')
  @Access({ verb: 'get', kinds: ['Diagnosis'] })
  @NoQuery()
  diagnose(@FromRequest(SignalPipe) signal: RequestSignal): Promise<DoctorReport> {
    return this.queries.doctor.report(signal());
  }
}
