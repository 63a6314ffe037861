import { toAuditSource, refusalReason } from '@causeway/access';
import type { AuditRecorder, CallerOrigin } from '@causeway/access';
import { OPERATIONS, routePath, type Activity } from '@causeway/api';
import { DomainError, isJsonObject, type Registry } from '@causeway/resources';
import type { AuditSource, AuditSubject } from '@causeway/store';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { HttpError } from './http-error';
import type { RequestCallers } from './request-callers';
import { header, type RestRequest } from './rest-request';
import { findTrace } from './request-trace';
import { stripQuery } from './route-table';

/** Activities of the audit log by the route of their POST; other routes are recorded by their path. */
const AUDITED: ReadonlyMap<string, Activity | 'reads' | 'itself'> = new Map(
  OPERATIONS.flatMap(({ method, path, aliases = [], audit }) =>
    method === 'POST' && audit !== undefined ? [path, ...aliases].map((one) => [routePath(one), audit] as const) : [],
  ),
);

/** A refusal of any request is recorded with one of these; of a request that changes something with every 4xx. */
const ACCESS_REFUSED: readonly number[] = [401, 403, 429];

/** The verbs of refused requests; a refused PUT is not known to create or to update. */
const VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  OPTIONS: 'get',
  POST: 'create',
  PUT: 'put',
  PATCH: 'update',
  DELETE: 'delete',
};

/** Returns the origin of a request. */
export function readOrigin(request: RestRequest): CallerOrigin {
  const { remoteAddress = '' } = request.socket;
  const { id: requestId } = request;
  return {
    address: remoteAddress,
    via: 'REST',
    userAgent: header(request, 'user-agent'),
    requestId,
    trace: findTrace(request),
  };
}

/** The audit log as REST writes it: refusals, and what POSTs did. The entries of writes are committed with the writes. */
export class RequestAudit {
  private readonly notes = new WeakMap<object, string>();
  /** Requests that changed nothing. */
  private readonly dry = new WeakSet();

  constructor(
    private readonly recorder: AuditRecorder,
    private readonly registry: Registry,
    readonly callers: RequestCallers,
  ) {}

  /** Returns sender and origin of a request. */
  sourceOf(request: RestRequest): AuditSource {
    return toAuditSource(this.callers.callerOf(request), readOrigin(request));
  }

  /** Says what a POST is done to, where its path does not: the zone of a token, the id of a revoked one. */
  note(request: object, name: string): void {
    this.notes.set(request, name);
  }

  /** Says that a POST was a dry run, so that it did nothing. */
  noteDryRun(request: object): void {
    this.dry.add(request);
  }

  /** Has what a POST of this route did recorded before it is answered; an answer that cannot be recorded becomes 503. */
  watch(route: RouteOptions): void {
    const { method, url } = route;
    if (method !== 'POST' || typeof AUDITED.get(url) === 'string') return;
    route.onSend = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      if (reply.statusCode < 300 && !this.dry.has(request))
        await this.recorder.done(this.sourceOf(request), this.subjectOf(request, url));
    };
  }

  /** Records a request that was refused, if it is one that the audit log has. */
  refused(request: RestRequest & Pick<FastifyRequest, 'routeOptions'>, status: number, error: unknown): void {
    const route = request.routeOptions.url ?? '';
    if (!isRecorded(request, route, status)) return;
    const subject = this.subjectOf(request, route);
    const confidential = this.registry.kind(subject.kind)?.confidential === true;
    this.recorder.refused(this.sourceOf(request), subject, refusalText(error, status, confidential));
  }

  private subjectOf(request: RestRequest, route: string): AuditSubject {
    const path = readTexts(request.params);
    const query = readTexts(request.query);
    const place = { mesh: path['mesh'] ?? '', zone: query['zone'] ?? '', namespace: query['namespace'] ?? '' };
    const verb = VERBS[request.method] ?? '';
    if (request.method === 'POST') {
      const audited = AUDITED.get(route);
      const act = typeof audited === 'string' ? undefined : audited;
      const name = this.notes.get(request) ?? path['name'] ?? act?.name ?? '';
      return {
        ...place,
        verb,
        kind: act?.kind ?? '',
        name,
        activity: act?.activity ?? `POST ${stripQuery(request.url)}`,
      };
    }
    const kind = this.registry.kinds.find(({ plural }) => plural === path['plural'])?.name ?? '';
    const activity = kind === '' && route !== '' ? `${request.method} ${route}` : '';
    return { ...place, verb, kind, name: path['name'] ?? '', activity };
  }
}

/** Dry runs write nothing, so only what they may not even ask is recorded of them. */
function isRecorded(request: RestRequest, route: string, status: number): boolean {
  if (ACCESS_REFUSED.includes(status)) return true;
  const writes = !['GET', 'HEAD', 'OPTIONS'].includes(request.method) && AUDITED.get(route) !== 'reads';
  return writes && status >= 400 && status < 500 && readTexts(request.query)['dryRun'] !== 'true';
}

/** Texts of bodies are not repeated: a secret may be among them. */
function refusalText(error: unknown, status: number, confidential: boolean): string {
  if (status === 400) return 'the request cannot be read';
  if (error instanceof DomainError) return refusalReason(error, confidential);
  return error instanceof HttpError ? error.message : `status ${status}`;
}

function readTexts(value: unknown): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, text]) => (typeof text === 'string' ? [[key, text]] : [])),
  );
}
