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

/** Activities in the audit log by the route of their POST; other routes are recorded with their path. */
const AUDITED: ReadonlyMap<string, Activity | 'reads' | 'itself'> = new Map(
  OPERATIONS.flatMap(({ method, path, aliases = [], audit }) =>
    method === 'POST' && audit !== undefined ? [path, ...aliases].map((one) => [routePath(one), audit] as const) : [],
  ),
);

/** Statuses with which a refusal of any request is recorded; of write requests every 4xx is recorded. */
const ACCESS_REFUSED: readonly number[] = [401, 403, 429];

/** Verbs of refused requests; whether a refused PUT would create or update is unknown. */
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

/** Audit entries of REST: refusals, and actions of POSTs. Entries of writes are committed with the writes. */
export class RequestAudit {
  private readonly names = new WeakMap<object, string>();
  /** Requests that were dry runs. */
  private readonly dry = new WeakSet();

  constructor(
    private readonly recorder: AuditRecorder,
    private readonly registry: Registry,
    readonly callers: RequestCallers,
  ) {}

  /** Returns sender and origin of a request. */
  getSource(request: RestRequest): AuditSource {
    return toAuditSource(this.callers.callerOf(request), readOrigin(request));
  }

  /** Sets the subject of a POST that its path does not contain: the zone of a token, the id of a revoked one. */
  setName(request: object, name: string): void {
    this.names.set(request, name);
  }

  /** Marks a POST as a dry run, which changes nothing. */
  markDryRun(request: object): void {
    this.dry.add(request);
  }

  /** Records every POST of this route before it is answered; if that fails, the answer is 503. */
  watch(route: RouteOptions): void {
    const { method, url } = route;
    if (method !== 'POST' || typeof AUDITED.get(url) === 'string') return;
    route.onSend = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      if (reply.statusCode < 300 && !this.dry.has(request))
        await this.recorder.done(this.getSource(request), this.readSubject(request, url));
    };
  }

  /** Records a refused request, if the audit log contains such. */
  refused(request: RestRequest & Pick<FastifyRequest, 'routeOptions'>, status: number, error: unknown): void {
    const route = request.routeOptions.url ?? '';
    if (!isRecorded(request, route, status)) return;
    const subject = this.readSubject(request, route);
    const confidential = this.registry.kind(subject.kind)?.confidential === true;
    this.recorder.refused(this.getSource(request), subject, refusalText(error, status, confidential));
  }

  private readSubject(request: RestRequest, route: string): AuditSubject {
    const path = readTexts(request.params);
    const query = readTexts(request.query);
    const place = { mesh: path['mesh'] ?? '', zone: query['zone'] ?? '', namespace: query['namespace'] ?? '' };
    const verb = VERBS[request.method] ?? '';
    if (request.method === 'POST') {
      const audited = AUDITED.get(route);
      const act = typeof audited === 'string' ? undefined : audited;
      const name = this.names.get(request) ?? path['name'] ?? act?.name ?? '';
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

/** Dry runs write nothing, so only refusals of access are recorded. */
function isRecorded(request: RestRequest, route: string, status: number): boolean {
  if (ACCESS_REFUSED.includes(status)) return true;
  const writes = !['GET', 'HEAD', 'OPTIONS'].includes(request.method) && AUDITED.get(route) !== 'reads';
  return writes && status >= 400 && status < 500 && readTexts(request.query)['dryRun'] !== 'true';
}

/** Returns the reason without texts of the body, which may contain a secret. */
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
