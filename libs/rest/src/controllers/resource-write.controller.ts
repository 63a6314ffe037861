import { Body, Controller, Delete, Inject, Patch, Put, Res, UseGuards } from '@nestjs/common';
import type { Admission, WriteOptions, WriteOutcome } from '@causeway/admission';
import type { Queries } from '@causeway/queries';
import type { JsonObject } from '@causeway/resources';
import type { FastifyReply } from 'fastify';
import { Access } from '../http/access.guard';
import { BodySizeGuard, ParsedBodyPipe } from '../http/body.pipes';
import { FromRequest } from '../requests/decorators';
import { SignalPipe, WritePipe, type RequestSignal, type WriteQuery } from '../requests/resource.pipes';
import { ADMISSION, QUERIES } from '../rest-dependencies';

/** Paths of one resource: of a kind without mesh, and of one in a mesh. */
const ONE = ['/:plural/:name', '/meshes/:mesh/:plural/:name'];

/** PUT, PATCH and DELETE of the resources of every kind, all through admission. */
@Controller()
@Access('any-right')
@UseGuards(BodySizeGuard)
export class ResourceWriteController {
  constructor(
    @Inject(ADMISSION) private readonly admission: Admission,
    @Inject(QUERIES) private readonly queries: Queries,
  ) {}

  /** 201 when it made the resource, else 200; `{}` or `{warnings}`. */
  @Put(ONE)
  async put(
    @FromRequest(WritePipe) write: WriteQuery,
    @FromRequest(SignalPipe) signal: RequestSignal,
    @Body(ParsedBodyPipe) body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    const { address, options } = write;
    const outcome = await this.admission.put({ ...options, address, body });
    return this.respond(outcome, write, signal, reply);
  }

  /** RFC 7386 on the Universal form; 200. */
  @Patch(ONE)
  async patch(
    @FromRequest(WritePipe) write: WriteQuery,
    @FromRequest(SignalPipe) signal: RequestSignal,
    @Body(ParsedBodyPipe) patch: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    const { address, options } = write;
    const outcome = await this.admission.patch({ ...options, address, patch });
    return this.respond(outcome, write, signal, reply);
  }

  /** 200 with `{}` or `{warnings}`; 409 for a Mesh with members, also where it is terminating from now on. */
  @Delete(ONE)
  async remove(
    @FromRequest(WritePipe) { address, options, terminate }: WriteQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    const { id, revision } = await this.admission.delete({ ...options, address, terminate });
    this.noteWrite(revision, options);
    void reply.header('causeway-revision', String(revision));
    const warnings = this.queries.inspections.deletionWarnings(id);
    return warnings.length === 0 ? {} : { warnings };
  }

  /** Status and headers are set last: a request that fails after its write must not carry them. */
  private async respond(
    outcome: WriteOutcome,
    write: WriteQuery,
    signal: RequestSignal,
    reply: FastifyReply,
  ): Promise<JsonObject> {
    const { revision, etag, warnings } = outcome;
    this.noteWrite(revision, write.options);
    const consequences = await this.consequences(outcome, write, signal);
    if (outcome.outcome === 'created') void reply.code(201);
    void reply.headers({ 'causeway-revision': String(revision), 'causeway-outcome': outcome.outcome });
    if (etag !== undefined) void reply.header('etag', etag);
    return { ...(warnings.length === 0 ? {} : { warnings }), ...consequences };
  }

  private async consequences(
    { id, spec }: WriteOutcome,
    { options, seenFrom }: WriteQuery,
    signal: RequestSignal,
  ): Promise<JsonObject | undefined> {
    if (options.dryRun !== true) return undefined;
    const draft = { id, spec, ...(seenFrom === undefined ? {} : { seenFrom }) };
    return this.queries.inspections.consequences(draft, signal());
  }

  /** Reads of this process show the write from here on. */
  private noteWrite(revision: number, { dryRun }: WriteOptions): void {
    if (dryRun !== true) this.queries.readYourWrites.recordWrite(revision);
  }
}
