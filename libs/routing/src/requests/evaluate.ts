import type { Identity } from '@causeway/resources';
import type { RouteDestination, ResolvedBackend } from '../binding/backend';
import type { Binding, Entry } from '../binding/binding';
import type { Frontend } from '../binding/frontend';
import type { Client, BindingTable } from '../binding/binding-table';
import { connectionAction, ruleAction, type RuleAction } from '../binding/rule-action';
import type { Filter, HeaderChanges } from '../model';
import { looksIntoRequests } from '../rules/compiled-route';
import { RequestFields, type HttpRequest, type Request } from '../rules/request';
import { filterRequest, buildRedirect, responseChanges, type Redirect } from './request-filters';

/** A request to evaluate: client, request, port and frontend. */
export interface RouteQuestion {
  readonly client: Client;
  readonly frontend: Frontend;
  readonly port: number;
  readonly request: Request;
}

/** True if a service has a ready endpoint at a port; called during evaluation, so that readiness changes no binding. */
export type IsReady = (service: Identity, port: number) => boolean;

/** Reason why a share or the whole request is not forwarded: 404, 500 or 503, with its gRPC status for a gRPC call. */
interface Refused {
  readonly type: 'refused';
  readonly status: 404 | 500 | 503;
  /** 12 = UNIMPLEMENTED, 14 = UNAVAILABLE; absent for other requests. */
  readonly grpcStatus?: 12 | 14;
  readonly reason: string;
}

interface Forwarded {
  readonly type: 'forwarded';
  readonly destination: RouteDestination;
  /** The request that the backend receives, after all filters; absent for connections. */
  readonly request?: HttpRequest;
  readonly responseChanges: readonly HeaderChanges[];
}

/** A share of identical requests: `weight` of `total`. */
export interface Share {
  readonly weight: number;
  readonly total: number;
  readonly result: Forwarded | Refused;
}

/** A mirrored copy of the request: `share` of all requests, from 0 to 1. */
interface Mirror {
  readonly share: number;
  readonly to: ResolvedBackend;
}

/** Result for a request. `implicit` = no route applies, and the frontend's own endpoints answer. */
export type RequestOutcome =
  | { readonly type: 'implicit'; readonly shares: readonly Share[] }
  | ({ readonly type: 'redirected' } & Redirect & { readonly responseChanges: readonly HeaderChanges[] })
  | Refused
  | {
      readonly type: 'routed';
      readonly shares: readonly Share[];
      readonly mirrors: readonly Mirror[];
      /** Timeouts in ms; absent means none. */
      readonly requestTimeout?: number;
      readonly backendTimeout?: number;
    };

export interface Decision {
  readonly binding: Binding | undefined;
  /** The match that decided; undefined if none did, and for kinds without matches. */
  readonly entry: Entry | undefined;
  readonly outcome: RequestOutcome;
}

/** Evaluates a request (I15). Linear in the matches of one group. Throws TooCostly like `explain`. */
export function evaluate(table: BindingTable, question: RouteQuestion, isReady: IsReady): Decision {
  const { client, frontend, port, request } = question;
  const binding = table.bindingFor(client, frontend, port, request.protocol === 'udp' ? 'udp' : 'tcp');
  const fields = request.protocol === 'http' ? new RequestFields(request) : undefined;
  const grpc = fields?.isGrpc ?? false;
  const context: EvaluationContext = { table, question, isReady, grpc };
  if (!binding) return { binding, entry: undefined, outcome: implicit(context) };
  if (!looksIntoRequests(binding.kind)) {
    return { binding, entry: undefined, outcome: actionOutcome(context, connectionAction(table, binding)) };
  }
  if (!fields) {
    const reason = `the port speaks HTTP, because a ${binding.kind} is bound to it`;
    return { binding, entry: undefined, outcome: { type: 'refused', status: 404, reason } };
  }
  const entry = binding.entries.find((one) => findMismatch(one, binding, fields) === undefined);
  if (!entry) return { binding, entry, outcome: unmatched(binding, grpc) };
  return { binding, entry, outcome: actionOutcome(context, ruleAction(table, binding, entry.route, entry.rule)) };
}

/** Returns why an entry does not match; undefined if it does. */
export function findMismatch({ match }: Entry, { kind }: Binding, fields: RequestFields): string | undefined {
  if (kind === 'GRPCRoute' && !fields.isGrpc) return 'a POST with content type application/grpc';
  return match.refusal(fields);
}

interface EvaluationContext {
  readonly table: BindingTable;
  readonly question: RouteQuestion;
  readonly isReady: IsReady;
  readonly grpc: boolean;
}

function implicit(context: EvaluationContext): RequestOutcome {
  const { frontend, port } = context.question;
  const result = deliver(context, { services: [frontend.id], port }, []);
  return { type: 'implicit', shares: [{ weight: 1, total: 1, result }] };
}

function unmatched({ kind }: Binding, grpc: boolean): Refused {
  const status = grpc ? ({ grpcStatus: 12 } as const) : {};
  return { type: 'refused', status: 404, ...status, reason: `no rule of the bound ${kind}s matches` };
}

function refused({ grpc }: EvaluationContext, status: 500 | 503, reason: string): Refused {
  return { type: 'refused', status, ...(grpc ? ({ grpcStatus: 14 } as const) : {}), reason };
}

function actionOutcome(context: EvaluationContext, action: RuleAction): RequestOutcome {
  const { request, port } = context.question;
  if (action.type === 'refused') return refused(context, 500, action.reason);
  if (action.type === 'redirect') {
    // Only rules of HTTP and gRPC routes have filters.
    if (request.protocol !== 'http') return refused(context, 500, 'a redirect needs an HTTP request');
    const answer = buildRedirect(request, action.redirect, { port, matched: action.matched });
    return { type: 'redirected', ...answer, responseChanges: responseChanges(action.filters) };
  }
  const { backends, total, mirrors, filters, matched, requestTimeout, backendTimeout } = action;
  const shares = backends.map(({ weight, to, filters: own }): Share => {
    const result = to.ok ? deliver(context, to.destination, [filters, own], matched) : refused(context, 500, to.reason);
    return { weight, total, result };
  });
  return {
    type: 'routed',
    shares,
    mirrors: mirrors.map(({ numerator, denominator, to }) => ({ share: numerator / denominator, to })),
    ...(requestTimeout === undefined ? {} : { requestTimeout }),
    ...(backendTimeout === undefined ? {} : { backendTimeout }),
  };
}

function deliver(
  context: EvaluationContext,
  destination: RouteDestination,
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
