import { toAuditSource, refusalReason } from '@causeway/access';
import type { AuditRecorder, CallerOrigin } from '@causeway/access';
import { DomainError, isJsonObject, type Registry } from '@causeway/resources';
import type { AuditSource, AuditSubject } from '@causeway/store';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { HttpError } from './http-error';
import type { RequestCallers } from './request-callers';
import { header, type RestRequest } from './rest-request';
import { findTrace } from './request-trace';
import { stripQuery } from './route-table';

/** Action of a POST. */
interface Activity {
  readonly kind: string;
  readonly activity: string;
  /** The name of what it is done to, where the path does not have it. */
  readonly name?: string;
}

/** Actions of POST requests, by route; other routes are recorded by their path. */
const ACTIVITIES: ReadonlyMap<string, Activity> = new Map([
  ['/tokens/user', { kind: 'UserToken', activity: 'issue a user token' }],
  ['/tokens/user/revocations', { kind: 'UserToken', activity: 'revoke a user token' }],
  ['/tokens/user/keys', { kind: 'UserToken', activity: 'make a signing key of user tokens' }],
  ['/tokens/zone', { kind: 'ZoneToken', activity: 'issue a zone token' }],
  ['/tokens/zone/revocations', { kind: 'ZoneToken', activity: 'revoke a zone token' }],
  ['/tokens/zone/keys', { kind: 'ZoneToken', activity: 'make a signing key of zone tokens' }],
  ['/tokens/dataplane', { kind: 'DataplaneToken', activity: 'issue a dataplane token' }],
  ['/tokens/dataplane/revocations', { kind: 'DataplaneToken', activity: 'revoke a dataplane token' }],
  ['/tokens/dataplane/keys', { kind: 'DataplaneToken', activity: 'make a signing key of dataplane tokens' }],
  ['/_ca/rotation', { kind: 'WorkloadAuthority', activity: 'rotate the certificate authority of workloads' }],
  ['/_leases/release', { kind: 'Dataplane', activity: 'release expired leases of agents' }],
  ['/_workloads/revocations', { kind: 'Workload', activity: 'revoke a workload' }],
  ['/_workloads/confirmations', { kind: 'Workload', activity: 'confirm a workload' }],
  ['/zones/:name/_confirm', { kind: 'SyncDecision', activity: 'confirm a zone' }],
  ['/zones/:name/_adopt', { kind: 'SyncDecision', activity: 'adopt a zone' }],
  ['/zones/:name/_reset-epoch', { kind: 'SyncDecision', activity: 'reset the epoch of a zone' }],
  ['/global/_confirm', { kind: 'SyncDecision', activity: 'confirm the global', name: 'global' }],
]);

/** A POST that only reads, and one whose writes have entries of their own. */
const READING: ReadonlySet<string> = new Set([
  '/_explain/hostname',
  '/_resolve/hostname',
  '/meshes/:mesh/_explain',
  '/_access',
]);
const WRITING: ReadonlySet<string> = new Set(['/_apply']);

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
    if (method !== 'POST' || READING.has(url) || WRITING.has(url)) return;
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
    this.recorder.refused(this.sourceOf(request), subject, reasonOf(error, status, confidential));
  }

  private subjectOf(request: RestRequest, route: string): AuditSubject {
    const path = textsOf(request.params);
    const query = textsOf(request.query);
    const place = { mesh: path['mesh'] ?? '', zone: query['zone'] ?? '', namespace: query['namespace'] ?? '' };
    const verb = VERBS[request.method] ?? '';
    if (request.method === 'POST') {
      const act = ACTIVITIES.get(route);
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
  const writes = !['GET', 'HEAD', 'OPTIONS'].includes(request.method) && !READING.has(route);
  return writes && status >= 400 && status < 500 && textsOf(request.query)['dryRun'] !== 'true';
}

/** Texts of bodies are not repeated: a secret may be among them. */
function reasonOf(error: unknown, status: number, confidential: boolean): string {
  if (status === 400) return 'the request cannot be read';
  if (error instanceof DomainError) return refusalReason(error, confidential);
  return error instanceof HttpError ? error.message : `status ${status}`;
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, text]) => (typeof text === 'string' ? [[key, text]] : [])),
  );
}
