import { BookmarkedEvents, encodedOnce, EncodedPuts, encodeResumePoint } from '@causeway/queries';
import type { EncodedEvent, EventEncoder, Queries, WatchSink } from '@causeway/queries';
import { DomainError, type Identity, type StorePoint } from '@causeway/resources';
import type { FastifyReply } from 'fastify';
import { newInstance, problemJson, toProblem, type Problem } from '../http/problem.filter';

/** Names of events on the wire. */
type WatchEventType = 'put' | 'delete' | 'bookmark' | 'relist' | 'error';

/** A comment without meaning that keeps connections open. */
const HEARTBEAT = ': heartbeat\n\n';

/** Returns an encoder of watch events as server-sent events; one per server, so that readers share buffers. */
export function eventStreamEncoder(json: Pick<Queries['json'], 'listed' | 'overlayOf'>): EventEncoder {
  const puts = new EncodedPuts(
    (resource) => Buffer.from(eventText('put', json.listed(resource))),
    (resource) => json.overlayOf(resource),
  );
  const bookmarks = new BookmarkedEvents((point) => eventText('bookmark', `{"revision":${point.revision}}`, point));
  return {
    put: (resource) => puts.of(resource),
    deleted: encodedOnce((id) => Buffer.from(eventText('delete', identityJson(id)))),
    bookmark: (point) => bookmarks.of(point),
    bookmarked: (event, point) => bookmarks.behind(event, point),
    relist: eventText('relist', '{}'),
    heartbeat: HEARTBEAT,
  };
}

/** Returns one server-sent event; `data` is JSON on one line. A reader resumes after the last event with an id. */
function eventText(event: WatchEventType, data: string, id?: StorePoint): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${encodeResumePoint(id)}\n`}data: ${data}\n\n`;
}

/** The identity of a resource as JSON. */
function identityJson({ kind, mesh, zone, namespace, name }: Identity): string {
  return JSON.stringify({
    type: kind,
    ...(mesh === '' ? {} : { mesh }),
    ...(namespace === '' ? {} : { namespace }),
    name,
    zone,
  });
}

/** A watch over a Fastify reply; a HEAD request gets headers and no events. */
export class ReplySink implements WatchSink {
  private readonly over = new AbortController();
  readonly gone = this.over.signal;
  /** Problem sent to the client when `refuse` ended the watch. */
  refusal: Problem | undefined;

  constructor(
    private readonly reply: FastifyReply,
    readonly encoder: EventEncoder,
  ) {
    reply.raw.on('close', () => this.over.abort()).on('error', () => this.over.abort());
  }

  /** Ends the watch: its last event is `error` with a problem document. */
  refuse(reason: DomainError): void {
    this.over.abort(reason);
  }

  open(point: StorePoint): void {
    this.reply.hijack();
    this.reply.raw.writeHead(200, { ...headersAt(point) });
    this.reply.raw.flushHeaders();
    if (this.reply.request.method === 'HEAD') this.over.abort();
  }

  write(event: EncodedEvent): boolean {
    return this.reply.raw.write(event);
  }

  drained(callback: () => void): void {
    this.reply.raw.once('drain', callback);
  }

  end(hard: boolean): void {
    const { raw } = this.reply;
    const reason: unknown = this.gone.reason;
    const isRefused = reason instanceof DomainError;
    if (isRefused) this.refusal = toProblem(reason, newInstance()).problem;
    // Does not wait for a client that does not read.
    if (isRefused ? raw.writableNeedDrain : hard) raw.destroy();
    else raw.end(this.refusal && eventText('error', problemJson(this.refusal)));
  }
}

function headersAt(point: StorePoint): Record<string, string> {
  return {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'causeway-revision': String(point.revision),
  };
}
