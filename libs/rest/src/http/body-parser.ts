import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Clock } from '@causeway/runtime';
import type { RestLimits } from '../rest-dependencies';
import { bodyFormat, checkYamlLength, parseBody, MAX_INLINE_BYTES } from './body-decode';
import { BodyWorkerPool, type BodyWorkerLimits } from './body-worker-pool';
import { HttpError } from './http-error';
import type { RequestSignals } from './request-signals';

/**
 * The body of a request that nobody has read yet. Fastify hands it over as `request.body`, so that guards refuse a
 * caller before the body takes memory; the pipe of a handler reads it.
 */
export class UnreadBody {
  constructor(
    /** The request that the body belongs to. */
    readonly request: { readonly headers: IncomingHttpHeaders },
    private readonly stream: Readable,
    private readonly limit: number,
  ) {}

  /** The media type with its parameters, as sent. */
  get contentType(): string | undefined {
    return this.request.headers['content-type'];
  }

  /** Throws 413 when the declared length is above the limit. */
  checkDeclaredLength(): void {
    if (this.declaredLength > this.limit) throw tooLarge();
  }

  /** All bytes. Throws 413 above the limit, and 400 when the length is not the declared one or the client breaks off. */
  async read(): Promise<Buffer> {
    this.checkDeclaredLength();
    const bytes = await this.bytes();
    const declared = this.declaredLength;
    if (bytes.length === declared || Number.isNaN(declared)) return bytes;
    throw failed(400, 'Request body size did not match Content-Length');
  }

  /** Listens to events: an asynchronous iterator costs several promises for each chunk. */
  private bytes(): Promise<Buffer> {
    const { stream, limit } = this;
    const chunks: Buffer[] = [];
    let length = 0;
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        stream.off('data', onData).off('end', onEnd).off('error', onError).off('close', onError);
      };
      const onData = (chunk: Buffer): void => {
        length += chunk.length;
        chunks.push(chunk);
        if (length > limit) {
          stop();
          reject(tooLarge());
        }
      };
      const onEnd = (): void => {
        stop();
        resolve(Buffer.concat(chunks, length));
      };
      const onError = (cause?: unknown): void => {
        stop();
        reject(failed(400, 'The body of this request was broken off.', cause));
      };
      if (stream.destroyed) onError();
      else stream.on('data', onData).on('end', onEnd).on('error', onError).on('close', onError);
    });
  }

  /** NaN where no length was declared. */
  private get declaredLength(): number {
    return Number(this.request.headers['content-length']);
  }
}

function tooLarge(): HttpError {
  return failed(413, 'Request body is too large');
}

/** The connection is of no further use: the rest of the body may still be on its way. */
function failed(status: 400 | 413, detail: string, cause?: unknown): HttpError {
  return new HttpError(status, detail, { headers: { connection: 'close' }, cause });
}

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
