import { parseTraceparent } from '@causeway/resources';
import type { Span, Tracer } from '@causeway/runtime';
import { header, type RestRequest } from './rest-request';

/** The trace that a request belongs to. */
export interface RequestTrace {
  readonly traceId: string;
  /** What the work of the request hangs on; undefined where this program does not trace the request. */
  readonly traceparent?: string;
}

interface BegunTrace extends RequestTrace {
  readonly span?: Span;
}

const begun = new WeakMap<object, BegunTrace>();

/** Begins the span of a request, named by its route; where it is not traced here, the trace of its caller is known all the same. */
export function beginTrace(request: RestRequest, route: string, tracer: Tracer): void {
  const given = header(request, 'traceparent');
  const span = tracer.request(`${request.method} ${route}`.trim(), given);
  const traceId = parseTraceparent(span?.traceparent ?? given)?.traceId;
  if (traceId === undefined) return;
  begun.set(request, span ? { traceId, traceparent: span.traceparent, span } : { traceId });
}

/** Ends the span of a request that was answered. */
export function endTrace(request: RestRequest, status: number): void {
  begun.get(request)?.span?.end(status >= 500 ? `status ${status}` : undefined);
}

/** The trace of a request; undefined where it belongs to none. */
export function traceOf(request: RestRequest): RequestTrace | undefined {
  return begun.get(request);
}
