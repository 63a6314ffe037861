import type { FastifyReply } from 'fastify';

/** Where a watch writes to: one HTTP answer that stays open. */
export interface WatchSink {
  /** Sends headers; the answer is a stream of events from here on. */
  open(headers: Readonly<Record<string, string>>): void;
  /** False when the reader has not taken what it got; wait for `drained` then. A buffer is not copied. */
  write(chunk: string | Buffer): boolean;
  /** Calls back once when the reader has caught up. */
  drained(callback: () => void): void;
  /** Aborts when the reader is gone. */
  readonly gone: AbortSignal;
  /** Ends the answer; `hard` also drops what was not taken. */
  end(hard: boolean): void;
}

/** The sink over a Fastify reply. */
export function replySink(reply: FastifyReply): WatchSink {
  const { raw } = reply;
  const gone = new AbortController();
  raw.on('close', () => gone.abort());
  raw.on('error', () => gone.abort());
  return {
    gone: gone.signal,
    open: (headers) => {
      reply.hijack();
      raw.writeHead(200, { ...headers });
      raw.flushHeaders();
    },
    write: (chunk) => raw.write(chunk),
    drained: (callback) => void raw.once('drain', callback),
    end: (hard) => (hard ? raw.destroy() : raw.end()),
  };
}
