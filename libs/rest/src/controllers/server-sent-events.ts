import {
  BookmarkedEvents,
  encodedOnce,
  EncodedPuts,
  encodeResumePoint,
  type EventEncoder,
  type Queries,
  type WatchSink,
} from '@causeway/queries';
import type { Identity, StorePoint } from '@causeway/resources';
import type { FastifyReply } from 'fastify';

/** The names of events on the wire. */
type WatchEventType = 'put' | 'delete' | 'bookmark' | 'relist';

/** A comment that keeps connections open and says nothing. */
const HEARTBEAT = ': heartbeat\n\n';

/** Watch events as server-sent events; one encoder a server, so that readers share buffers. */
export function eventStreamEncoder(json: Pick<Queries['json'], 'listed'>): EventEncoder {
  const puts = new EncodedPuts((resource) => Buffer.from(eventText('put', json.listed(resource))));
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

/** One server-sent event; `data` is JSON on one line. A reader that has seen an event with an id resumes behind it. */
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
export function replySink(reply: FastifyReply, encoder: EventEncoder): WatchSink {
  const { raw } = reply;
  const gone = new AbortController();
  raw.on('close', () => gone.abort());
  raw.on('error', () => gone.abort());
  return {
    encoder,
    gone: gone.signal,
    open: (point) => {
      reply.hijack();
      raw.writeHead(200, { ...headersAt(point) });
      raw.flushHeaders();
      if (reply.request.method === 'HEAD') gone.abort();
    },
    write: (event) => raw.write(event),
    drained: (callback) => void raw.once('drain', callback),
    end: (hard) => (hard ? raw.destroy() : raw.end()),
  };
}

function headersAt(point: StorePoint): Record<string, string> {
  return {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'causeway-revision': String(point.revision),
  };
}
