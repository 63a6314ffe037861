import type { Clock } from '@causeway/runtime';
import type { RestLimits } from '../rest-dependencies';
import { BodyWorkerPool, type BodyWorkerLimits } from './body-worker-pool';
import { bodyFormat, checkYamlLength, parseBody, MAX_INLINE_BYTES } from './body-decode';
import { HttpError } from './http-error';
import type { UnreadBody } from './request-body';
import type { RequestSignals } from './request-signals';

/** Parses bodies: small ones at once, large ones in a worker that can be ended, so that none blocks the event loop. */
export class BodyParser {
  readonly workers: BodyWorkerPool;

  constructor(
    private readonly limits: Pick<RestLimits, 'yaml'>,
    private readonly requestSignals: RequestSignals,
    clock: Clock,
    workerLimits?: BodyWorkerLimits,
  ) {
    this.workers = new BodyWorkerPool(clock, workerLimits);
  }

  /**
   * The value of a body; no body counts as an empty one. Throws as `decodeBody` does, 503 when too many bodies wait for
   * a worker, and the reason of the request's signal when that aborts.
   */
  async parse(body: UnreadBody | undefined): Promise<unknown> {
    const bytes = (await body?.read()) ?? Buffer.alloc(0);
    const format = bodyFormat(body?.contentType);
    checkYamlLength(format, bytes, this.limits);
    if (!body || bytes.length <= MAX_INLINE_BYTES[format]) return parseBody(format, bytes);
    const result = await this.workers.parse({ format, bytes }, this.requestSignals.signalOf(body.request));
    if (result.type === 'value') return result.value;
    if (result.type !== 'failure') return parseBody(format, bytes);
    if (result.status === 400 || result.status === 413) throw new HttpError(result.status, result.detail);
    throw new Error(`a body was not read: ${result.detail}`);
  }

  /** Ends the workers. */
  close(): Promise<void> {
    return this.workers.close();
  }
}
