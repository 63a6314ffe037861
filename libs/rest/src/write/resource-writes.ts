import type { Admission, WriteAddress, WriteOptions, WriteOutcome } from '@causeway/admission';
import type { Registry } from '@causeway/resources';
import type { RestLimits } from '../dependencies';
import type { Access } from '../http/access';
import { json, type Answer } from '../http/answer';
import { decodeBody } from '../http/body-decode';
import { header, placeOf, queryOf, type Call } from '../http/call';
import type { Freshness } from '../read/freshness';
import { nameQuery } from '../read/resource-reads';
import { writeParameters } from './write-parameters';

/** What writing works with. */
export interface WriteParts {
  readonly registry: Registry;
  readonly admission: Admission;
  readonly access: Access;
  readonly freshness: Freshness;
  readonly limits: Pick<RestLimits, 'yaml'>;
}

interface Request {
  readonly address: WriteAddress;
  readonly options: WriteOptions;
}

/** PUT, PATCH and DELETE of one resource, all through admission. */
export class ResourceWrites {
  constructor(private readonly parts: WriteParts) {}

  /** 201 when it made the resource, else 200; `{}` or `{warnings}`. */
  async put(call: Call): Promise<Answer> {
    const { address, options } = this.request(call);
    const body = decodeBody(header(call, 'content-type'), call.body, this.parts.limits);
    return this.written(await this.parts.admission.put({ ...options, address, body }), options);
  }

  /** RFC 7386 on the Universal form; 200. */
  async patch(call: Call): Promise<Answer> {
    const { address, options } = this.request(call);
    const patch = decodeBody(header(call, 'content-type'), call.body, this.parts.limits);
    return this.written(await this.parts.admission.patch({ ...options, address, patch }), options);
  }

  /** 200 with `{}`. */
  async remove(call: Call): Promise<Answer> {
    const { address, options } = this.request(call);
    const { revision } = await this.parts.admission.delete({ ...options, address });
    this.note(revision, options);
    return json({}, { 'causeway-revision': String(revision) });
  }

  private request(call: Call): Request {
    const { kind, mesh } = placeOf(call, this.parts.registry, true);
    const query = queryOf(call, writeParameters(kind));
    const address = nameQuery(call, kind, mesh, query);
    const dryRun = query.flag('dryRun');
    query.check();
    const ifMatch = header(call, 'if-match');
    const operator = this.parts.access.checkWriter(call);
    return { address, options: { context: { operator }, dryRun, ...(ifMatch === undefined ? {} : { ifMatch }) } };
  }

  private written(outcome: WriteOutcome, options: WriteOptions): Answer {
    const { revision, etag, warnings } = outcome;
    this.note(revision, options);
    const answer = json(warnings.length === 0 ? {} : { warnings }, {
      'causeway-revision': String(revision),
      ...(etag === undefined ? {} : { etag }),
    });
    return outcome.outcome === 'created' ? { ...answer, status: 201 } : answer;
  }

  private note(revision: number, { dryRun }: WriteOptions): void {
    if (dryRun !== true) this.parts.freshness.wrote(revision);
  }
}
