import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Clock } from '@causeway/runtime';
import type { RestLimits } from '../rest-dependencies';
import { bodyFormat, checkYamlLength, decodeBody, parseBody, MAX_INLINE_BYTES, type ParseRequest } from './body-decode';
import { BodyWorkerPool, type BodyWorkerLimits } from './body-worker-pool';
import { HttpError } from './http-error';
import type { RequestSignals } from './request-signals';

/**
 * Unread body of a request. Fastify passes it as `request.body`, so that guards can refuse a caller before the body
 * uses memory; the pipe of a handler reads it.
 */
export class UnreadBody {
  constructor(
    /** Request to which the body belongs. */
    readonly request: { readonly headers: IncomingHttpHeaders },
    private readonly stream: Readable,
    private readonly limit: number,
  ) {}

  /** The media type with its parameters, as sent. */
  get contentType(): string | undefined {
    return this.request.headers['content-type'];
  }

  /** Throws 413 if the declared length is above the limit. */
  checkDeclaredLength(): void {
    if (this.declaredLength > this.limit) throw tooLarge();
  }

  /** Returns the same body with another limit. */
  upTo(limit: number): UnreadBody {
    return new UnreadBody(this.request, this.stream, limit);
  }

  /** Returns all bytes. Throws 413 above the limit, and 400 if the length differs from the declared one or the client disconnects. */
  async read(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    const length = await this.readPieces((chunk) => void chunks.push(chunk));
    return Buffer.concat(chunks, length);
  }

  /** Passes the body to `take` piece by piece and resolves with its length. Throws like `read`, and errors of `take`. */
  async readPieces(take: (piece: Buffer) => void): Promise<number> {
    this.checkDeclaredLength();
    const length = await this.pieces(take);
    const declared = this.declaredLength;
    if (length === declared || Number.isNaN(declared)) return length;
    throw failed(400, 'Request body size did not match Content-Length');
  }

  /** Uses events: an asynchronous iterator costs several promises per chunk. */
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

  /** Declared length; NaN if there is none. */
  private get declaredLength(): number {
    return Number(this.request.headers['content-length']);
  }
}

function tooLarge(): HttpError {
  return failed(413, 'Request body is too large');
}

/** Returns an error that closes the connection: the rest of the body may still arrive. */
function failed(status: 400 | 413, detail: string, cause?: unknown): HttpError {
  return new HttpError(status, detail, { headers: { connection: 'close' }, cause });
}

/** Parses bodies: small ones directly, large ones in a worker that can be terminated, so that none blocks the event loop. */
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
   * Parses a body; no body counts as an empty one. Throws like `decodeBody`, 503 if too many bodies wait for a worker,
   * and the reason of the request's signal if it aborts.
   */
  async parse(body: UnreadBody | undefined): Promise<unknown> {
    const bytes = (await body?.read()) ?? Buffer.alloc(0);
    const format = bodyFormat(body?.contentType);
    checkYamlLength(format, bytes, this.limits);
    if (!body || bytes.length <= MAX_INLINE_BYTES[format]) return parseBody(format, bytes);
    const parsed = await this.inWorker({ format, bytes }, this.requestSignals.getSignal(body.request));
    return format === 'yaml' ? parsed : parseBody(format, bytes);
  }

  /**
   * Parses a body too large for the main thread in a worker: returns the value of YAML; undefined for JSON that may be
   * parsed here. Throws like `parse`.
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

/** Returns the unread body of a request from Fastify; undefined if it has none. */
export function unreadBody(body: unknown): UnreadBody | undefined {
  return body instanceof UnreadBody ? body : undefined;
}

/** Reads and decodes a small body. Throws 400, 413 and 415. */
export async function readSmallBody(given: unknown): Promise<unknown> {
  const body = unreadBody(given);
  return decodeBody(body?.contentType, await body?.read());
}
