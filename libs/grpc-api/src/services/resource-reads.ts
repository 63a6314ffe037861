import {
  ListResponse,
  type ResourceMessage,
  type GetRequest,
  type GetResponse,
  type ListRequest,
} from '@causeway/proto-gen';
import { encodeResumePoint, targetOfScope, type ListSnapshot, type Queries } from '@causeway/queries';
import type { Registry, Resource } from '@causeway/resources';
import { ConcurrentStreams } from '../calls/concurrent-streams';
import type { CallContext, StreamContext } from '../calls/handler-factory';
import type { StreamWriter } from '../calls/stream-writer';
import { readNameQuery, resourceMessage, readRevision, readListScope } from '../wire/messages';

/** Sources of reads. */
export interface ResourceReadsParts {
  readonly registry: Registry;
  readonly queries: Queries;
}

/** Bytes after which a chunk of a list is sent. */
const CHUNK_BYTES = 128 * 1024;

/** Timeout for a client to read a list, ms. */
const READ_TIME = 300_000;

/** Maximum number of concurrent lists: each keeps the resources of its revision in memory. */
const MAX_LISTS = 64;

/** Handlers of Get and List. */
export class ResourceReads {
  private readonly lists = new ConcurrentStreams(MAX_LISTS, 'lists are');

  constructor(private readonly parts: ResourceReadsParts) {}

  async get({ name, minRevision }: GetRequest, { rights }: CallContext): Promise<GetResponse> {
    const { registry, queries } = this.parts;
    const resource = await queries.resources.get(
      readNameQuery(registry, name, queries.defaultMesh),
      rights,
      readRevision(minRevision),
    );
    return { resource: resourceMessage(resource, queries.json.encode(resource)) };
  }

  async list(request: ListRequest, { access, signal }: StreamContext, writer: StreamWriter): Promise<void> {
    const scope = readListScope(this.parts.registry, request.selection, this.parts.queries.defaultMesh);
    access.needs('list', targetOfScope(scope));
    const leave = this.lists.enter();
    try {
      const snapshot = await this.parts.queries.resources.snapshot(scope, readRevision(request.minRevision), signal);
      writer.limit(READ_TIME);
      await this.send(snapshot, writer);
    } finally {
      leave();
    }
  }

  private async send({ point, resources }: ListSnapshot, writer: StreamWriter): Promise<void> {
    const head = { revision: point.revision, resumeToken: encodeResumePoint(point) };
    let chunk: ResourceMessage[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      await writer.send(Buffer.from(ListResponse.encode({ ...head, resources: chunk }).finish()));
      [chunk, bytes] = [[], 0];
    };
    let sent = false;
    for await (const resource of resources) {
      const message = this.listed(resource);
      chunk.push(message);
      bytes += message.json.length;
      if (bytes >= CHUNK_BYTES) await flush().then(() => (sent = true));
    }
    if (chunk.length > 0 || !sent) await flush();
  }

  private listed(resource: Resource): ResourceMessage {
    return resourceMessage(resource, this.parts.queries.json.listed(resource));
  }
}
