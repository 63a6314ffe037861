import {
  deleteResource,
  getResource,
  listResources,
  listResourcesOfMesh,
  patchResource,
  putResource,
  type KindOperation,
  type AnswerOf,
} from '@causeway/api';
import type { NameQuery, WriteOptions, WriteOutcome } from '@causeway/admission';
import { decodeResumePoint, targetOfScope, type ListRequest, type WatchRequest } from '@causeway/queries';
import { isJsonObject, type Kind } from '@causeway/resources';
import { jsonHeaders, listBody, resourceHeaders } from '../answers/responses';
import { ReplySink } from '../answers/server-sent-events';
import { unreadBody } from '../http/body-parser';
import { truncated } from '../http/http-error';
import type { QueryReader } from '../http/query-reader';
import { readOrigin } from '../http/request-audit';
import {
  documentForm,
  kindInPath,
  meshInPath,
  nameQuery,
  readMinRevision,
  readPage,
  readSelection,
} from '../http/request-decoding';
import type { Call } from '../operations/call';
import { kindEndpoint, type Endpoint, type KindInRequest } from '../operations/endpoint';
import type { EndpointSources } from '../operations/sources';

/** Endpoints of the resources of every kind: the registry has the kinds, so that a new kind gets its paths without code here. */
export function resourceEndpoints(sources: EndpointSources): readonly Endpoint[] {
  const { queries, registry, admission } = sources;
  const ofOne: KindInRequest = ({ request }) => kindInPath(request, registry, true).kind;
  const list = (operation: KindOperation): Endpoint =>
    kindEndpoint(
      operation,
      ({ request }) => kindInPath(request, registry, false).kind,
      (query, kind, call) => (isWatch(call) ? readWatch(query, kind, call) : readList(query, kind, call)),
      (call, wanted) =>
        'watch' in wanted ? serveWatch(sources, call, wanted.watch) : sendList(sources, call, wanted.list),
    );
  return [
    list(listResources),
    list(listResourcesOfMesh),
    kindEndpoint(
      getResource,
      ofOne,
      (query, kind, { request }) => ({
        name: nameQuery(request, kind, meshInPath(request), query),
        form: documentForm(query.text('format')),
        minRevision: readMinRevision(query),
      }),
      async ({ request, reply, rights }, { name, form, minRevision }) => {
        const resource = await queries.resources.get(name, rights, minRevision);
        const { alias } = kindInPath(request, registry, true);
        void reply.headers(resourceHeaders(resource)).send(queries.json.encode(resource, { form, alias }));
      },
    ),
    kindEndpoint(putResource, ofOne, readWrite, async (call, write) => {
      const body = await sources.batches.parser.parse(unreadBody(call.request.body));
      return answerWrite(sources, call, write, await admission.put({ ...toWriteOptions(call, write), body }));
    }),
    kindEndpoint(patchResource, ofOne, readWrite, async (call, write) => {
      const patch = await sources.batches.parser.parse(unreadBody(call.request.body));
      return answerWrite(sources, call, write, await admission.patch({ ...toWriteOptions(call, write), patch }));
    }),
    kindEndpoint(deleteResource, ofOne, readWrite, async (call, write) => {
      const { terminate, force } = write;
      const deleted = await admission.delete({ ...toWriteOptions(call, write), terminate, force });
      const { id, revision } = deleted;
      recordWrite(sources, revision, write);
      void call.reply.header('causeway-revision', String(revision));
      const warnings = [...deleted.warnings, ...queries.inspections.deletionWarnings(id)];
      return warnings.length === 0 ? {} : { warnings };
    }),
  ];
}

function isWatch({ request }: Call): boolean {
  return isJsonObject(request.query) && request.query['watch'] === 'true';
}

/** Query of a list, and the form of its documents. */
interface ListQuery extends ListRequest {
  readonly form: ReturnType<typeof documentForm>;
}

function readList(query: QueryReader, kind: Kind, { request }: Call): { readonly list: ListQuery } {
  const scope = { kind: kind.name, mesh: meshInPath(request), selection: readSelection(query) };
  const page = readPage(query);
  if (query.text('since') !== undefined) query.refuse('since', 'is for a watch; add watch=true');
  return { list: { scope, page, form: documentForm(query.text('format')), minRevision: readMinRevision(query) } };
}

function readWatch(query: QueryReader, kind: Kind, call: Call): { readonly watch: WatchRequest } {
  const { request } = call;
  for (const name of ['size', 'offset', 'cursor', 'format'])
    if (query.text(name) !== undefined) query.refuse(name, 'is for a list; a watch sends every resource');
  const scope = { kind: kind.name, mesh: meshInPath(request), selection: readSelection(query) };
  const text = call.header('last-event-id') ?? query.text('since');
  const since = text === undefined || text === '' ? undefined : decodeResumePoint(text);
  if (text && !since) query.refuse('since', `must be a revision or the id of an event; got "${truncated(text)}"`);
  const client = request.socket.remoteAddress ?? '';
  return { watch: { scope, since, minRevision: readMinRevision(query), client } };
}

/** Sends `{total, items, next}`. */
async function sendList({ queries, registry }: EndpointSources, call: Call, wanted: ListQuery): Promise<void> {
  const { request, reply } = call;
  const result = await queries.resources.list(wanted, () => call.signal);
  const format = { form: wanted.form, alias: kindInPath(request, registry, false).alias };
  const text = listBody(request, wanted.page, result, (one) => queries.json.listed(one, format));
  void reply.headers(jsonHeaders(result.revision)).send(text);
}

/** Sends server-sent events until the client disconnects or loses its rights. */
async function serveWatch(
  { queries, audit, events }: EndpointSources,
  { request, reply }: Call,
  watch: WatchRequest,
): Promise<void> {
  const sink = new ReplySink(reply, events);
  const access = audit.callers.watch(request, (reason) => sink.refuse(reason));
  try {
    access.needs('watch', targetOfScope(watch.scope));
    await queries.watches.serve(watch, sink);
  } finally {
    access.close();
  }
  if (sink.refusal) audit.refused(request, sink.refusal.status, sink.gone.reason);
}

/** Query of a PUT, PATCH or DELETE, without the body. */
interface WriteQuery {
  readonly address: NameQuery;
  readonly dryRun: boolean;
  /** Zone from whose view a dry run computes the consequences. */
  readonly seenFrom: string | undefined;
  /** For a DELETE of a Mesh: whether it terminates the Mesh. */
  readonly terminate: boolean;
  /** For a DELETE of a Zone: whether it is deleted while it is Online. */
  readonly force: boolean;
}

function readWrite(query: QueryReader, kind: Kind, { request }: Call): WriteQuery {
  return {
    address: nameQuery(request, kind, meshInPath(request), query),
    dryRun: query.flag('dryRun'),
    seenFrom: query.text('seenFrom'),
    terminate: query.flag('terminate'),
    force: query.flag('force'),
  };
}

function toWriteOptions(call: Call, { address, dryRun }: WriteQuery): WriteOptions & { readonly address: NameQuery } {
  const ifMatch = call.header('if-match');
  const context = { caller: call.rights.caller, origin: readOrigin(call.request) };
  return { address, context, dryRun, ...(ifMatch === undefined ? {} : { ifMatch }) };
}

/** Answers 201 if the write created the resource. Sets status and headers last: a request that fails after its write must not have them. */
async function answerWrite(
  sources: EndpointSources,
  call: Call,
  write: WriteQuery,
  outcome: WriteOutcome,
): Promise<AnswerOf<typeof putResource>> {
  const { id, spec, revision, etag, warnings } = outcome;
  const { seenFrom, dryRun } = write;
  recordWrite(sources, revision, write);
  const draft = { id, spec, ...(seenFrom === undefined ? {} : { seenFrom }) };
  const consequences = dryRun ? await sources.queries.inspections.consequences(draft, call.signal) : {};
  if (outcome.outcome === 'created') void call.reply.code(201);
  void call.reply.headers({ 'causeway-revision': String(revision), 'causeway-outcome': outcome.outcome });
  if (etag !== undefined) void call.reply.header('etag', etag);
  return { ...(warnings.length === 0 ? {} : { warnings }), ...consequences };
}

/** Records the write, so that later reads of this process show it. */
function recordWrite({ queries }: EndpointSources, revision: number, { dryRun }: WriteQuery): void {
  if (!dryRun) queries.readYourWrites.recordWrite(revision);
}
