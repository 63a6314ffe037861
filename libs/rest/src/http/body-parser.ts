import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Clock } from '@causeway/runtime';
import type { RestLimits } from '../rest-dependencies';
import { bodyFormat, checkYamlLength, decodeBody, parseBody, MAX_INLINE_BYTES, type ParseRequest } from './body-decode';
import { BodyWorkerPool, type BodyWorkerLimits } from './body-worker-pool';
import { HttpError } from './http-error';
import type { RequestSignals } from './request-signals';

/**
 * Body of a request that is not read yet. Fastify passes it as `request.body`, so that guards refuse a caller before
 * the body takes memory; the pipe of a handler reads it.
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

  /** The same body with another limit. */
  upTo(limit: number): UnreadBody {
    return new UnreadBody(this.request, this.stream, limit);
  }

  /** All bytes. Throws 413 above the limit, and 400 when the length is not the declared one or the client breaks off. */
  async read(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    const length = await this.readPieces((chunk) => void chunks.push(chunk));
    return Buffer.concat(chunks, length);
  }

  /** Hands over the body piece by piece and resolves with its length. Throws as `read` does, and what `take` throws. */
  async readPieces(take: (piece: Buffer) => void): Promise<number> {
    this.checkDeclaredLength();
    const length = await this.pieces(take);
    const declared = this.declaredLength;
    if (length === declared || Number.isNaN(declared)) return length;
    throw failed(400, 'Request body size did not match Content-Length');
  }

  /** Listens to events: an asynchronous iterator costs several promises for each chunk. */
  private pieces(take: (piece: Buffer) => void): Promise<number> {
    const { stream, limit } = this;
    let length = 0;
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        stream.off('data', onData).off('end', onEnd).off('error', onError).off('close', onError);
      };
      const onData = (chunk: Buffer): void => {
        length += chunk.length;
        try {
          if (length > limit) throw tooLarge();
          take(chunk);
        } catch (error) {
          stop();
          reject(error instanceof Error ? error : new Error('the body was not taken', { cause: error }));
        }
      };
      const onEnd = (): void => {
        stop();
        resolve(length);
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
    const parsed = await this.inWorker({ format, bytes }, this.requestSignals.signalOf(body.request));
    return format === 'yaml' ? parsed : parseBody(format, bytes);
  }

  /**
   * Parses in a worker what is too large for the main thread: returns the value of YAML; undefined for JSON that may be
   * parsed here. Throws as `parse` does.
   */
  async inWorker(request: ParseRequest, signal: AbortSignal): Promise<unknown> {
    const result = await this.workers.parse(request, signal);
    if (result.type === 'value') return result.value;
    if (result.type !== 'failure') return undefined;
    if (result.status === 400 || result.status === 413) throw new HttpError(result.status, result.detail);
    throw new Error(`a body was not read: ${result.detail}`);
  }

  /** Ends the workers. */
  close(): Promise<void> {
    return this.workers.close();
  }
}

/** Returns the body of a request that Fastify has left unread; undefined where it has none. */
export function unreadBody(body: unknown): UnreadBody | undefined {
  return body instanceof UnreadBody ? body : undefined;
}

/** Reads the value of a small body at once. Throws 400, 413 and 415. */
export async function readSmallBody(given: unknown): Promise<unknown> {
  const body = unreadBody(given);
  return decodeBody(body?.contentType, await body?.read());
}
