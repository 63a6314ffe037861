import type { Admission, WriteAddress, WriteOptions, WriteOutcome } from '@causeway/admission';
import type { Queries } from '@causeway/queries';
import type { JsonObject, Registry } from '@causeway/resources';
import type { CallerAuthorizer } from '../http/caller-authorizer';
import { jsonResponse, type RestResponse } from '../http/rest-response';
import type { BodyParser } from '../http/body-parser';
import { header, kindInPath, queryOf, type RestRequest } from '../http/rest-request';
import type { RequestSignals } from '../http/request-signals';
import { nameQuery } from '../read/query-decoding';
import { writeParameters } from './write-parameters';

/** What writing works with. */
export interface ResourceWriteServices {
  readonly registry: Registry;
  readonly admission: Admission;
  readonly access: CallerAuthorizer;
  readonly queries: Queries;
  readonly bodies: BodyParser;
  readonly requestSignals: RequestSignals;
}

interface WriteRequest {
  readonly address: WriteAddress;
  readonly options: WriteOptions;
  readonly seenFrom: string | undefined;
}

/** PUT, PATCH and DELETE of one resource, all through admission. */
export class ResourceWrites {
  constructor(private readonly parts: ResourceWriteServices) {}

  /** 201 when it made the resource, else 200; `{}` or `{warnings}`. */
  async put(call: RestRequest): Promise<RestResponse> {
    const { address, ...request } = this.request(call);
    const { options } = request;
    const body = await this.parts.bodies.parse(call);
    return this.writeResponse(call, await this.parts.admission.put({ ...options, address, body }), request);
  }

  /** RFC 7386 on the Universal form; 200. */
  async patch(call: RestRequest): Promise<RestResponse> {
    const { address, ...request } = this.request(call);
    const { options } = request;
    const patch = await this.parts.bodies.parse(call);
    return this.writeResponse(call, await this.parts.admission.patch({ ...options, address, patch }), request);
  }

  /** 200 with `{}` or `{warnings}`. */
  async remove(call: RestRequest): Promise<RestResponse> {
    const { address, options } = this.request(call);
    const { id, revision } = await this.parts.admission.delete({ ...options, address });
    this.noteRevision(revision, options);
    const warnings = this.parts.queries.inspections.deletionWarnings(id);
    return jsonResponse(warnings.length === 0 ? {} : { warnings }, { 'causeway-revision': String(revision) });
  }

  private request(call: RestRequest): WriteRequest {
    const { kind, mesh } = kindInPath(call, this.parts.registry, true);
    const query = queryOf(call, writeParameters(kind));
    const address = nameQuery(call, kind, mesh, query);
    const dryRun = query.flag('dryRun');
    const seenFrom = query.text('seenFrom');
    query.check();
    const ifMatch = header(call, 'if-match');
    const operator = this.parts.access.isOperator(call);
    const options = { context: { operator }, dryRun, ...(ifMatch === undefined ? {} : { ifMatch }) };
    return { address, options, seenFrom };
  }

  private async writeResponse(
    call: RestRequest,
    outcome: WriteOutcome,
    { options, seenFrom }: Omit<WriteRequest, 'address'>,
  ): Promise<RestResponse> {
    const { revision, etag, warnings } = outcome;
    this.noteRevision(revision, options);
    const told = options.dryRun === true ? await this.consequences(call, outcome, seenFrom) : {};
    const answer = jsonResponse(
      { ...(warnings.length === 0 ? {} : { warnings }), ...told },
      {
        'causeway-revision': String(revision),
        'causeway-outcome': outcome.outcome,
        ...(etag === undefined ? {} : { etag }),
      },
    );
    return outcome.outcome === 'created' ? { ...answer, status: 201 } : answer;
  }

  private async consequences(
    call: RestRequest,
    { id, spec }: WriteOutcome,
    seenFrom: string | undefined,
  ): Promise<JsonObject> {
    const draft = { id, spec, ...(seenFrom === undefined ? {} : { seenFrom }) };
    const signal = this.parts.requestSignals.signalOf(call);
    return (await this.parts.queries.inspections.consequences(draft, signal)) ?? {};
  }

  private noteRevision(revision: number, { dryRun }: WriteOptions): void {
    if (dryRun !== true) this.parts.queries.freshness.noteWrite(revision);
  }
}
