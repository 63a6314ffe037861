import { Body, Controller, Get, HttpCode, Inject, Post, Res, UseGuards } from '@nestjs/common';
import type { Admission } from '@causeway/admission';
import { topologyDot, type Queries, type VirtualName } from '@causeway/queries';
import type { SortedPage } from '@causeway/runtime';
import type { FastifyReply } from 'fastify';
import { Access } from '../http/access.guard';
import { BodySizeGuard, SmallBodyPipe } from '../http/body.pipes';
import { readOrigin } from '../http/request-audit';
import type { RestRequest } from '../http/rest-request';
import { FromRequest } from '../requests/decorators';
import {
  AffectingPipe,
  AffectingVirtualPipe,
  AskingPipe,
  CandidatePipe,
  DeletionImpactPipe,
  ScopesPipe,
  TopologyPipe,
  type AffectingQuery,
  type Asking,
  type PolicyQuery,
  type TopologyQuery,
} from '../requests/policies.pipes';
import { JSON_TYPE, nextPageUrl } from '../requests/responses';
import { ADMISSION, QUERIES } from '../rest-dependencies';

const POLICY = '/meshes/:mesh/:plural/:name';

/** Which policies affect what, where they count, and what a change would change (seed GEP-713). */
@Controller()
@Access('any-right')
export class PoliciesController {
  constructor(
    @Inject(QUERIES) private readonly queries: Queries,
    @Inject(ADMISSION) private readonly admission: Admission,
  ) {}

  /** Every policy that affects a resource; needs the right to read the resource alone. */
  @Get(['/meshes/:name/_policies', '/:plural/:name/_policies', `${POLICY}/_policies`])
  async affecting(
    @FromRequest(AffectingPipe) { name, options, range }: AffectingQuery,
    @FromRequest(AskingPipe) { request, ...asking }: Asking,
  ): Promise<object> {
    const found = await this.queries.policies.affecting(name, options, { ...asking, range });
    return paged(request, found, range.offset);
  }

  /** The same of what is stored nowhere: a virtual kind. */
  @Get('/meshes/:mesh/_virtual/:group/:kind/:name/_policies')
  async affectingVirtual(
    @FromRequest(AffectingVirtualPipe)
    { virtual, options, range }: Omit<AffectingQuery, 'name'> & { readonly virtual: VirtualName },
    @FromRequest(AskingPipe) { request, ...asking }: Asking,
  ): Promise<object> {
    const question = { ...asking, range };
    const found = await this.queries.policies.affectingVirtual(virtual, options, question);
    return paged(request, found, range.offset);
  }

  /** Returns the scopes of a policy, and which of its values survive there. */
  @Get(`${POLICY}/_scopes`)
  async scopes(
    @FromRequest(ScopesPipe) { name, minRevision, range }: PolicyQuery,
    @FromRequest(AskingPipe) { request, ...asking }: Asking,
  ): Promise<object> {
    const found = await this.queries.policies.scopes(name, minRevision, { ...asking, range });
    return paged(request, found, range.offset);
  }

  /** Returns the changes if a policy were deleted. */
  @Get(`${POLICY}/_impact`)
  async impactOfDeletion(
    @FromRequest(DeletionImpactPipe) { name, minRevision, range }: PolicyQuery,
    @FromRequest(AskingPipe) { request, ...asking }: Asking,
  ): Promise<object> {
    const question = { ...asking, range };
    const found = await this.queries.policies.impactOfDeletion(name, minRevision, question);
    return paged(request, found, range.offset);
  }

  /**
   * Returns the changes if a policy were written as in the body; admission checks it like a write, and nothing is
   * written.
   */
  @Post(`${POLICY}/_impact`)
  @HttpCode(200)
  @UseGuards(BodySizeGuard)
  async impactOfWrite(
    @FromRequest(CandidatePipe) { name, range }: Pick<PolicyQuery, 'name' | 'range'>,
    @Body(SmallBodyPipe) body: unknown,
    @FromRequest(AskingPipe) { request, ...asking }: Asking,
  ): Promise<object> {
    const context = { caller: asking.rights.caller, origin: readOrigin(request) };
    const { id, spec } = await this.admission.put({ address: name, body, dryRun: true, context });
    const found = await this.queries.policies.impactOfWrite(id, spec, { ...asking, range });
    return paged(request, found, range.offset);
  }

  /** The graph of targets, as JSON or in DOT. */
  @Get('/meshes/:mesh/topology')
  async topology(
    @FromRequest(TopologyPipe) { mesh, root, form }: TopologyQuery,
    @FromRequest(AskingPipe) asking: Asking,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const graph = await this.queries.policies.topology(mesh, root, asking);
    if (form === 'dot') void reply.type('text/vnd.graphviz; charset=utf-8').send(topologyDot(graph));
    else void reply.type(JSON_TYPE).send(JSON.stringify(graph));
  }
}

/** A page with the address of the next one; a page may end early where its items are large. */
function paged(request: RestRequest, found: SortedPage<object>, offset: number): object {
  const end = offset + found.items.length;
  const more = found.items.length > 0 && end < found.total;
  return { ...found, next: more ? nextPageUrl(request, { offset: String(end) }) : null };
}
