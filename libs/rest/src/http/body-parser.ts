import type { Clock } from '@causeway/runtime';
import type { RestLimits } from '../rest-dependencies';
import { BodyWorkerPool, type BodyWorkerLimits } from './body-worker-pool';
import { bodyFormat, checkYamlLength, parseBody, MAX_INLINE_BYTES } from './body-decode';
import { header, type RestRequest } from './rest-request';
import { HttpError } from './http-error';
import type { RequestSignals } from './request-signals';

/** Reads bodies: small ones at once, large ones in a thread that can be ended, so that none holds up everybody else. */
export class BodyParser {
  readonly workers: BodyWorkerPool;

  constructor(
    private readonly limits: Pick<RestLimits, 'yaml'>,
    private readonly requestSignals: RequestSignals,
    clock: Clock,
    threadLimits?: BodyWorkerLimits,
  ) {
    this.workers = new BodyWorkerPool(clock, threadLimits);
  }

  /** The value of a call's body; throws as `decodeBody` does, 503 when too much waits, and why the request was given up. */
  async parse(call: RestRequest): Promise<unknown> {
    const format = bodyFormat(header(call, 'content-type'));
    const bytes = Buffer.isBuffer(call.body) ? call.body : Buffer.alloc(0);
    checkYamlLength(format, bytes, this.limits);
    if (bytes.length <= MAX_INLINE_BYTES[format]) return parseBody(format, bytes);
    const answer = await this.workers.parse({ format, bytes }, this.requestSignals.signalOf(call));
    if (answer.type === 'value') return answer.value;
    if (answer.type !== 'failure') return parseBody(format, bytes);
    if (answer.status === 400 || answer.status === 413) throw new HttpError(answer.status, answer.detail);
    throw new Error(`a body was not read: ${answer.detail}`);
  }

  /** Ends the threads. */
  close(): Promise<void> {
    return this.workers.close();
  }
}
