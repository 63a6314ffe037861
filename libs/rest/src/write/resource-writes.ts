import type { Admission, WriteAddress, WriteOptions, WriteOutcome } from '@causeway/admission';
import type { JsonObject, Registry } from '@causeway/resources';
import type { Insights } from '../dependencies';
import type { Access } from '../http/access';
import { json, type Answer } from '../http/answer';
import type { BodyReader } from '../http/body-reader';
import { header, placeOf, queryOf, type Call } from '../http/call';
import type { Gate } from '../http/gate';
import type { RequestLives } from '../http/request-life';
import type { Freshness } from '../read/freshness';
import { nameQuery } from '../read/resource-reads';
import { writeParameters } from './write-parameters';

/** What writing works with. */
export interface WriteParts {
  readonly registry: Registry;
  readonly admission: Admission;
  readonly access: Access;
  readonly freshness: Freshness;
  readonly bodies: BodyReader;
  readonly lives: RequestLives;
  readonly costly: Gate;
  readonly insights: Insights;
}

interface Request {
  readonly address: WriteAddress;
  readonly options: WriteOptions;
  readonly seenFrom: string | undefined;
}

/** PUT, PATCH and DELETE of one resource, all through admission. */
export class ResourceWrites {
  constructor(private readonly parts: WriteParts) {}

  /** 201 when it made the resource, else 200; `{}` or `{warnings}`. */
  async put(call: Call): Promise<Answer> {
    const { address, ...request } = this.request(call);
    const { options } = request;
    const body = await this.parts.bodies.read(call);
    return this.written(call, await this.parts.admission.put({ ...options, address, body }), request);
  }

  /** RFC 7386 on the Universal form; 200. */
  async patch(call: Call): Promise<Answer> {
    const { address, ...request } = this.request(call);
    const { options } = request;
    const patch = await this.parts.bodies.read(call);
    return this.written(call, await this.parts.admission.patch({ ...options, address, patch }), request);
  }

  /** 200 with `{}` or `{warnings}`. */
  async remove(call: Call): Promise<Answer> {
    const { address, options } = this.request(call);
    const { id, revision } = await this.parts.admission.delete({ ...options, address });
    this.note(revision, options);
    const warnings = this.parts.insights.deletionWarnings?.(id) ?? [];
    return json(warnings.length === 0 ? {} : { warnings }, { 'causeway-revision': String(revision) });
  }

  private request(call: Call): Request {
    const { kind, mesh } = placeOf(call, this.parts.registry, true);
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

  private async written(
    call: Call,
    outcome: WriteOutcome,
    { options, seenFrom }: Omit<Request, 'address'>,
  ): Promise<Answer> {
    const { revision, etag, warnings } = outcome;
    this.note(revision, options);
    const told = options.dryRun === true ? await this.consequences(call, outcome, seenFrom) : {};
    const answer = json(
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
    call: Call,
    { id, spec }: WriteOutcome,
    seenFrom: string | undefined,
  ): Promise<JsonObject> {
    const draft = { id, spec, ...(seenFrom === undefined ? {} : { seenFrom }) };
    const { consequences } = this.parts.insights;
    if (!consequences) return {};
    const life = this.parts.lives.signalOf(call);
    return (await this.parts.costly.run(async (signal) => consequences(draft, signal), life)) ?? {};
  }

  private note(revision: number, { dryRun }: WriteOptions): void {
    if (dryRun !== true) this.parts.freshness.wrote(revision);
  }
}
