import type { Clock } from '@causeway/runtime';
import type { RestLimits } from '../dependencies';
import { BodyThreads, type BodyThreadLimits } from './body-threads';
import { bodyFormat, checkLength, parseBody, READ_AT_ONCE } from './body-decode';
import { header, type Call } from './call';
import { HttpFailure } from './http-failure';
import type { RequestLives } from './request-life';

/** Reads bodies: small ones at once, large ones in a thread that can be ended, so that none holds up everybody else. */
export class BodyReader {
  readonly threads: BodyThreads;

  constructor(
    private readonly limits: Pick<RestLimits, 'yaml'>,
    private readonly lives: RequestLives,
    clock: Clock,
    threadLimits?: BodyThreadLimits,
  ) {
    this.threads = new BodyThreads(clock, threadLimits);
  }

  /** The value of a call's body; throws as `decodeBody` does, 503 when too much waits, and why the request was given up. */
  async read(call: Call): Promise<unknown> {
    const format = bodyFormat(header(call, 'content-type'));
    const bytes = Buffer.isBuffer(call.body) ? call.body : Buffer.alloc(0);
    checkLength(format, bytes, this.limits);
    if (bytes.length <= READ_AT_ONCE[format]) return parseBody(format, bytes);
    const answer = await this.threads.parse({ format, bytes }, this.lives.signalOf(call));
    if (answer.type === 'value') return answer.value;
    if (answer.type !== 'failure') return parseBody(format, bytes);
    if (answer.status === 400 || answer.status === 413) throw new HttpFailure(answer.status, answer.detail);
    throw new Error(`a body was not read: ${answer.detail}`);
  }

  /** Ends the threads. */
  close(): Promise<void> {
    return this.threads.close();
  }
}
