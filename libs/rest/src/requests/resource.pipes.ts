import { Inject, Injectable, type PipeTransform } from '@nestjs/common';
import type { CallerRights } from '@causeway/access';
import type { DocumentFormat, NameQuery, WriteOptions } from '@causeway/admission';
import { decodeResumePoint, type ListScope, type PageRequest, type WatchRequest } from '@causeway/queries';
import { isJsonObject, type Registry } from '@causeway/resources';
import { readOrigin } from '../http/request-audit';
import { RequestCallers } from '../http/request-callers';
import { RequestSignals } from '../http/request-signals';
import { header, type RestRequest } from '../http/rest-request';
import { truncated } from '../http/http-error';
import { REGISTRY } from '../rest-dependencies';
import {
  kindInPath,
  nameQuery,
  readForm,
  readMinRevision,
  readPage,
  readSelection,
  type KindInPath,
} from '../http/request-decoding';
import { deleteParameters, getParameters, listParameters, watchParameters, writeParameters } from './query-parameters';
import { readQuery } from '../http/query-reader';

/** A GET of a list. */
export interface ListQuery {
  readonly type: 'list';
  readonly scope: ListScope;
  readonly page: PageRequest;
  readonly format: DocumentFormat;
  readonly minRevision: number | undefined;
}

/** A GET of a list that goes on as a stream of events. */
export interface WatchQuery {
  readonly type: 'watch';
  readonly watch: WatchRequest;
}

/** A GET of one resource. */
export interface GetQuery {
  readonly name: NameQuery;
  readonly format: DocumentFormat;
  readonly minRevision: number | undefined;
}

/** A PUT, PATCH or DELETE, without its body. */
export interface WriteQuery {
  readonly address: NameQuery;
  readonly options: WriteOptions;
  /** The zone in which a dry run looks at the consequences. */
  readonly seenFrom: string | undefined;
  /** Of a DELETE of a Mesh. */
  readonly terminate: boolean;
}

/** Decodes a GET of a list, plain or watched. Throws 404 for a path of no kind and 400 for a bad query. */
@Injectable()
export class ListPipe implements PipeTransform<RestRequest, ListQuery | WatchQuery> {
  constructor(@Inject(REGISTRY) private readonly registry: Registry) {}

  transform(request: RestRequest): ListQuery | WatchQuery {
    const named = kindInPath(request, this.registry, false);
    const isWatch = isJsonObject(request.query) && request.query['watch'] === 'true';
    return isWatch ? watchQuery(request, named) : listQuery(request, named);
  }
}

function listQuery(request: RestRequest, { kind, mesh, alias }: KindInPath): ListQuery {
  const query = readQuery(request, listParameters(kind));
  const selection = readSelection(query);
  const page = readPage(query);
  const format = { form: readForm(query), alias };
  query.flag('watch');
  if (query.text('since') !== undefined) query.refuse('since', 'is for a watch; add watch=true');
  const minRevision = readMinRevision(query);
  query.check();
  return { type: 'list', scope: { kind: kind.name, mesh, selection }, page, format, minRevision };
}

function watchQuery(request: RestRequest, { kind, mesh }: KindInPath): WatchQuery {
  const query = readQuery(request, watchParameters(kind));
  query.flag('watch');
  const selection = readSelection(query);
  const text = header(request, 'last-event-id') ?? query.text('since');
  const since = text === undefined || text === '' ? undefined : decodeResumePoint(text);
  if (text && !since) query.refuse('since', `must be a revision or the id of an event; got "${truncated(text)}"`);
  const minRevision = readMinRevision(query);
  query.check();
  const scope = { kind: kind.name, mesh, selection };
  return { type: 'watch', watch: { scope, since, minRevision, client: request.socket.remoteAddress ?? '' } };
}

/** Decodes a GET of one resource. Throws 404 for a path of no kind and 400 for a bad query. */
@Injectable()
export class GetPipe implements PipeTransform<RestRequest, GetQuery> {
  constructor(@Inject(REGISTRY) private readonly registry: Registry) {}

  transform(request: RestRequest): GetQuery {
    const { kind, mesh, alias } = kindInPath(request, this.registry, true);
    const query = readQuery(request, getParameters(kind));
    const name = nameQuery(request, kind, mesh, query);
    const format = { form: readForm(query), alias };
    const minRevision = readMinRevision(query);
    query.check();
    return { name, format, minRevision };
  }
}

/** Decodes path, query and headers of a write. Throws 404 for a path of no kind and 400 for a bad query. */
@Injectable()
export class WritePipe implements PipeTransform<RestRequest, WriteQuery> {
  constructor(
    @Inject(REGISTRY) private readonly registry: Registry,
    @Inject(RequestCallers) private readonly callers: RequestCallers,
  ) {}

  transform(request: RestRequest): WriteQuery {
    const { kind, mesh } = kindInPath(request, this.registry, true);
    const isDelete = request.method === 'DELETE';
    const query = readQuery(request, isDelete ? deleteParameters(kind) : writeParameters(kind));
    const address = nameQuery(request, kind, mesh, query);
    const dryRun = query.flag('dryRun');
    const seenFrom = query.text('seenFrom');
    const terminate = isDelete && kind.name === 'Mesh' && query.flag('terminate');
    query.check();
    const ifMatch = header(request, 'if-match');
    const { caller } = this.callers.rightsOf(request);
    const context = { caller, origin: readOrigin(request) };
    const options = { context, dryRun, ...(ifMatch === undefined ? {} : { ifMatch }) };
    return { address, options, seenFrom, terminate };
  }
}

/** Gives a handler what its caller may do: `@FromRequest(RightsPipe) rights: CallerRights`. */
@Injectable()
export class RightsPipe implements PipeTransform<RestRequest, CallerRights> {
  constructor(@Inject(RequestCallers) private readonly callers: RequestCallers) {}

  transform(request: RestRequest): CallerRights {
    return this.callers.rightsOf(request);
  }
}

/** The signal that aborts when a request is over. Making it costs a timer, so handlers call it where they need it. */
export type RequestSignal = () => AbortSignal;

/** Gives a handler the signal of its request: `@FromRequest(SignalPipe) signal: RequestSignal`. */
@Injectable()
export class SignalPipe implements PipeTransform<RestRequest, RequestSignal> {
  constructor(@Inject(RequestSignals) private readonly signals: RequestSignals) {}

  transform(request: RestRequest): RequestSignal {
    return () => this.signals.signalOf(request);
  }
}
