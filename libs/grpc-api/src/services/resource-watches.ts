import { frameMessage } from '@causeway/grpc-server';
import { WatchResponse, type WatchRequest } from '@causeway/proto-gen';
import {
  BookmarkedEvents,
  decodeResumePoint,
  encodedOnce,
  EncodedPuts,
  encodeResumePoint,
  targetOfScope,
  WatchExpired,
  type EventEncoder,
  type Queries,
  type WatchSink,
} from '@causeway/queries';
import { Unavailable, type Registry } from '@causeway/resources';
import type { StreamContext } from '../calls/handler-factory';
import type { StreamWriter } from '../calls/stream-writer';
import { SlowReaderError } from '../calls/call-error';
import { identityMessage, refused, resourceMessage, readRevision, readListScope } from '../wire/messages';

/** Sources of watches. */
export interface ResourceWatchesParts {
  readonly registry: Registry;
  readonly queries: Queries;
}

/** Marks the end of a watch after which the client has to list again: sent as a status, not a message. Compared by identity. */
const RELIST = Buffer.from('relist');

/** Handler of Watch. Its limits are those of all watches of the process, over any interface. */
export class ResourceWatches {
  private readonly encoder: EventEncoder;

  constructor(private readonly parts: ResourceWatchesParts) {
    this.encoder = watchEncoder(parts.queries.json);
  }

  async watch(request: WatchRequest, { access, client }: StreamContext, writer: StreamWriter): Promise<void> {
    const scope = readListScope(this.parts.registry, request.selection, this.parts.queries.defaultMesh);
    access.needs('watch', targetOfScope(scope));
    const since = request.resumeToken === '' ? undefined : decodeResumePoint(request.resumeToken);
    if (request.resumeToken !== '' && !since) throw refused('resume_token', 'must be one of a list or a bookmark');
    const minRevision = readRevision(request.minRevision);
    await this.parts.queries.watches.serve({ scope, since, minRevision, client }, this.sink(writer));
  }

  /** Writes events to the call. The watch ends with a status; a client resumes after any status except OUT_OF_RANGE. */
  private sink(writer: StreamWriter): WatchSink {
    let end: Error = new Unavailable('the watch has ended; resume it');
    return {
      encoder: this.encoder,
      gone: writer.gone,
      open: () => undefined,
      write: (event) => {
        if (event !== RELIST) return writer.writeFrames(Buffer.isBuffer(event) ? event : Buffer.from(event));
        end = new WatchExpired('this client fell too far behind, or the store was loaded anew');
        return true;
      },
      drained: (callback) => writer.drained(callback),
      end: (hard) => writer.end(hard ? new SlowReaderError('the client does not read') : end),
    };
  }
}

function watchEncoder(json: Pick<Queries['json'], 'listed' | 'overlayOf'>): EventEncoder {
  const puts = new EncodedPuts(
    (resource) => encoded({ $case: 'put', value: resourceMessage(resource, json.listed(resource)) }),
    (resource) => json.overlayOf(resource),
  );
  const bookmarks = new BookmarkedEvents((point) =>
    encoded({ $case: 'bookmark', value: { resumeToken: encodeResumePoint(point), revision: point.revision } }),
  );
  return {
    put: (resource) => puts.of(resource),
    deleted: encodedOnce((id) => encoded({ $case: 'deleted', value: identityMessage(id) })),
    bookmark: (point) => bookmarks.of(point),
    bookmarked: (event, point) => bookmarks.behind(event, point),
    relist: RELIST,
    heartbeat: encoded(undefined),
  };
}

function encoded(event: WatchResponse['event']): Buffer {
  return frameMessage(WatchResponse.encode({ event }).finish());
}
