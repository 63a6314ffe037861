import { Body, Controller, Get, HttpCode, Inject, Post, UseGuards } from '@nestjs/common';
import type { CallerRights } from '@causeway/access';
import type { Queries, RequestAnswer, RequestQuestion, RoutesQuestion, ServiceRoutes } from '@causeway/queries';
import { Access } from '../http/access.guard';
import { BodySizeGuard, SmallBodyPipe } from '../http/body.pipes';
import { FromRequest } from '../requests/decorators';
import { RequestQuestionPipe, RoutesPipe, ViewPipe, type View } from '../requests/routes.pipes';
import { RightsPipe, SignalPipe, type RequestSignal } from '../requests/resource.pipes';
import { QUERIES } from '../rest-dependencies';

/** Serves evaluations of requests, and the routes of services (seed GEP-1426). */
@Controller('/meshes/:mesh')
export class RoutesController {
  constructor(@Inject(QUERIES) private readonly queries: Queries) {}

  /** From the host of a request to the shares of its backends, and why every other rule lost. */
  @Post('_explain')
  @HttpCode(200)
  @Access('any-right')
  @UseGuards(BodySizeGuard)
  explain(
    @FromRequest(ViewPipe) { mesh, zone }: View,
    @Body(SmallBodyPipe, RequestQuestionPipe) question: RequestQuestion,
    @FromRequest(RightsPipe) rights: CallerRights,
    @FromRequest(SignalPipe) signal: RequestSignal,
  ): Promise<RequestAnswer> {
    return this.queries.routes.explain(mesh, question, { rights, zone, signal: signal() });
  }

  /** The merged routes of a service by port and group, the stronger match first. */
  @Get('_routes')
  @Access('any-right')
  routes(
    @FromRequest(RoutesPipe) question: RoutesQuestion,
    @FromRequest(RightsPipe) rights: CallerRights,
    @FromRequest(SignalPipe) signal: RequestSignal,
  ): Promise<ServiceRoutes> {
    return this.queries.routes.table(question, rights, signal());
  }
}
