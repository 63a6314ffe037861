import { goDurationMs, type Identity } from '@causeway/resources';
import type { Destination, ResolvedBackend } from '../binding/backend';
import type { Binding, Entry } from '../binding/binding';
import type { Frontend } from '../binding/frontend';
import type { Client, RouteTable } from '../binding/route-table';
import type { BackendRef, Filter, HeaderChanges } from '../model';
import { looksIntoRequests, type CompiledRoute, type CompiledRule } from '../rules/compiled-route';
import { RequestFields, type HttpRequest, type Request } from './request';
import { filterRequest, redirectOf, responseChanges, type Redirect } from './request-filters';

/** What is asked: who sends what to which port of which frontend. */
export interface Question {
  readonly client: Client;
  readonly frontend: Frontend;
  readonly port: number;
  readonly request: Request;
}

/** True where a service has a ready endpoint at a port; asked at evaluation, so that readiness changes no binding. */
export type IsReady = (service: Identity, port: number) => boolean;

/** Why a share, or the whole request, is not forwarded: 404, 500 or 503, with its gRPC status where it is a gRPC call. */
export interface Refused {
  readonly type: 'refused';
  readonly status: 404 | 500 | 503;
  /** 12 = UNIMPLEMENTED, 14 = UNAVAILABLE; absent for other requests. */
  readonly grpcStatus?: 12 | 14;
  readonly reason: string;
}

export interface Forwarded {
  readonly type: 'forwarded';
  readonly destination: Destination;
  /** As the backend gets it, after all filters; absent for connections. */
  readonly request?: HttpRequest;
  readonly responseChanges: readonly HeaderChanges[];
}

/** A part of equal requests: `weight` of `total`. */
export interface Share {
  readonly weight: number;
  readonly total: number;
  readonly result: Forwarded | Refused;
}

/** A copy of the request: `share` of all of them, from 0 to 1. */
export interface Mirror {
  readonly share: number;
  readonly to: ResolvedBackend;
}

/** What happens to a request. `implicit` = no route holds, the frontend's own endpoints answer. */
export type Outcome =
  | { readonly type: 'implicit'; readonly shares: readonly Share[] }
  | ({ readonly type: 'redirected' } & Redirect & { readonly responseChanges: readonly HeaderChanges[] })
  | Refused
  | {
      readonly type: 'routed';
      readonly shares: readonly Share[];
      readonly mirrors: readonly Mirror[];
      /** Time-outs in ms; absent where there is none. */
      readonly requestTimeout?: number;
      readonly backendTimeout?: number;
    };

export interface Decision {
  readonly binding: Binding | undefined;
  /** The match that decided; undefined where none did, and for kinds without matches. */
  readonly entry: Entry | undefined;
  readonly outcome: Outcome;
}

/** What happens to a request (I15). Linear in the matches of one group. */
export function evaluate(table: RouteTable, question: Question, isReady: IsReady): Decision {
  const { client, frontend, port, request } = question;
  const binding = table.bindingFor(client, frontend, port, request.protocol === 'udp' ? 'udp' : 'tcp');
  const fields = request.protocol === 'http' ? new RequestFields(request) : undefined;
  const grpc = fields?.isGrpc ?? false;
  const context: Context = { table, question, isReady, grpc };
  if (!binding) return { binding, entry: undefined, outcome: implicit(context) };
  if (!looksIntoRequests(binding.kind)) {
    return { binding, entry: undefined, outcome: connectionOutcome(context, binding) };
  }
  if (!fields) {
    const reason = `the port speaks HTTP, because a ${binding.kind} is bound to it`;
    return { binding, entry: undefined, outcome: { type: 'refused', status: 404, reason } };
  }
  const entry = binding.entries.find((one) => refusalOf(one, binding, fields) === undefined);
  return { binding, entry, outcome: entry ? entryOutcome(context, binding, entry) : unmatched(binding, grpc) };
}

/** Why an entry does not match; undefined where it does. */
export function refusalOf({ match }: Entry, { kind }: Binding, fields: RequestFields): string | undefined {
  if (kind === 'GRPCRoute' && !fields.isGrpc) return 'a POST with content type application/grpc';
  return match.refusal(fields);
}

interface Context {
  readonly table: RouteTable;
  readonly question: Question;
  readonly isReady: IsReady;
  readonly grpc: boolean;
}

function implicit(context: Context): Outcome {
  const { frontend, port } = context.question;
  const result = deliver(context, { services: [frontend.id], port }, []);
  return { type: 'implicit', shares: [{ weight: 1, total: 1, result }] };
}

function unmatched({ kind }: Binding, grpc: boolean): Refused {
  const status = grpc ? ({ grpcStatus: 12 } as const) : {};
  return { type: 'refused', status: 404, ...status, reason: `no rule of the bound ${kind}s matches` };
}

function refused({ grpc }: Context, status: 500 | 503, reason: string): Refused {
  return { type: 'refused', status, ...(grpc ? ({ grpcStatus: 14 } as const) : {}), reason };
}

/** TCPRoute, TLSRoute, UDPRoute: the first rule of the oldest route. */
function connectionOutcome(context: Context, binding: Binding): Outcome {
  const [route] = binding.routes;
  const rule = route?.rules[0];
  if (!route || !rule) return refused(context, 500, 'the route has no rule');
  const shares = sharesOf(context, { binding, route, rule, matched: '/' });
  return shares.length === 0
    ? refused(context, 500, 'the rule has no backendRefs of a weight above 0')
    : { type: 'routed', shares, mirrors: [] };
}

interface Chosen {
  readonly binding: Binding;
  readonly route: CompiledRoute;
  readonly rule: CompiledRule;
  /** The value of the PathPrefix match, for ReplacePrefixMatch. */
  readonly matched: string;
}

function entryOutcome(context: Context, binding: Binding, { route, rule }: Entry): Outcome {
  const filters = rule.rule.filters ?? [];
  const { request, port } = context.question;
  const extension = filters.find(({ type }) => type === 'ExtensionRef');
  if (extension) return refused(context, 500, `filter ExtensionRef ${extension.extensionRef?.name ?? ''} is unknown`);
  const path = rule.rule.matches?.[0]?.path;
  const chosen = { binding, route, rule, matched: path?.value ?? '/' };
  const redirect = filters.find(({ requestRedirect }) => requestRedirect)?.requestRedirect;
  if (redirect && request.protocol === 'http') {
    const answer = redirectOf(request, redirect, { port, matched: chosen.matched });
    return { type: 'redirected', ...answer, responseChanges: responseChanges(filters) };
  }
  const shares = sharesOf(context, chosen);
  if (shares.length === 0) return refused(context, 500, 'the rule has no backendRefs of a weight above 0');
  return { type: 'routed', shares, mirrors: mirrorsOf(context, chosen), ...timeoutsOf(rule) };
}

function timeoutsOf({ rule: { timeouts } }: CompiledRule): { requestTimeout?: number; backendTimeout?: number } {
  const request = timeouts?.request === undefined ? 0 : (goDurationMs(timeouts.request) ?? 0);
  const backend = timeouts?.backendRequest === undefined ? 0 : (goDurationMs(timeouts.backendRequest) ?? 0);
  return { ...(request > 0 ? { requestTimeout: request } : {}), ...(backend > 0 ? { backendTimeout: backend } : {}) };
}

/** The shares of weight above 0, each with what happens to it: nothing makes a share larger than its weight says. */
function sharesOf(context: Context, chosen: Chosen): readonly Share[] {
  const backends = (chosen.rule.rule.backendRefs ?? []).filter(({ weight = 1 }) => weight > 0);
  const total = backends.reduce((sum, { weight = 1 }) => sum + weight, 0);
  return backends.map((backend) => {
    const { weight = 1 } = backend;
    return { weight, total, result: shareResult(context, chosen, backend) };
  });
}

function shareResult(
  context: Context,
  { binding, route, rule, matched }: Chosen,
  backend: BackendRef,
): Share['result'] {
  const resolved = context.table.backend(route, backend, context.question.port, binding.group);
  if (!resolved.ok) return refused(context, 500, `${resolved.unresolved.reason}: ${resolved.unresolved.message}`);
  const own = backend.filters ?? [];
  if (own.some(({ type }) => type === 'ExtensionRef')) return refused(context, 500, 'filter ExtensionRef is unknown');
  return deliver(context, resolved.destination, [rule.rule.filters ?? [], own], matched);
}

function deliver(
  context: Context,
  destination: Destination,
  filters: readonly (readonly Filter[])[],
  matched = '/',
): Share['result'] {
  const { services, port } = destination;
  if (!services.some((service) => context.isReady(service, port))) {
    const names = services.map(({ namespace, name }) => `${namespace}/${name}`).join(', ');
    return refused(context, 503, `no ready endpoint of ${names} at port ${port}`);
  }
  const { request } = context.question;
  const changed = request.protocol === 'http' ? { request: filterRequest(request, filters.flat(), matched) } : {};
  return { type: 'forwarded', destination, ...changed, responseChanges: responseChanges(...filters) };
}

function mirrorsOf({ table, question }: Context, { binding, route, rule }: Chosen): readonly Mirror[] {
  return (rule.rule.filters ?? []).flatMap(({ requestMirror: mirror }) => {
    if (!mirror) return [];
    const { numerator, denominator = 100 } = mirror.fraction ?? { numerator: mirror.percent ?? 100 };
    const to = table.backend(route, mirror.backendRef, question.port, binding.group);
    return [{ share: numerator / denominator, to }];
  });
}
