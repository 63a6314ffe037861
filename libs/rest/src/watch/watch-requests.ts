import { decodeResumePoint, type Queries, type WatchRequest, type WatchSink } from '@causeway/queries';
import { isJsonObject, type Registry } from '@causeway/resources';
import { header, kindInPath, queryOf, type RestRequest } from '../http/rest-request';
import { truncated } from '../http/truncated';
import { readMinRevision, readSelection } from '../read/query-decoding';
import { watchParameters } from '../read/read-parameters';

/** True when a list is requested as a stream of events. */
export function wantsWatch({ query }: Pick<RestRequest, 'query'>): boolean {
  return isJsonObject(query) && query['watch'] === 'true';
}

/** GET of a list that is watched. */
export class WatchRequests {
  constructor(
    private readonly registry: Registry,
    private readonly queries: Pick<Queries, 'watches'>,
  ) {}

  /**
   * Streams events to `sink`. Throws before the sink is opened: 400 for a bad query, 404 for kind or mesh, 410 when the
   * client has to list again, 503 when too many watches are open.
   */
  async serve(call: RestRequest, sink: WatchSink): Promise<void> {
    await this.queries.watches.serve(this.decode(call), sink);
  }

  private decode(call: RestRequest): WatchRequest {
    const { kind, mesh } = kindInPath(call, this.registry, false);
    const query = queryOf(call, watchParameters(kind));
    query.flag('watch');
    const selection = readSelection(query);
    const text = header(call, 'last-event-id') ?? query.text('since');
    const since = text === undefined || text === '' ? undefined : decodeResumePoint(text);
    if (text && !since) query.refuse('since', `must be a revision or the id of an event; got "${truncated(text)}"`);
    const minRevision = readMinRevision(query);
    query.check();
    const scope = { kind: kind.name, mesh, selection };
    return { scope, since, minRevision, client: call.socket.remoteAddress ?? '' };
  }
}
