import { requestTrace, type RequestTrace, type Span, type Tracer } from '@causeway/runtime';
import { header, type RestRequest } from './rest-request';

const begun = new WeakMap<object, { readonly trace: RequestTrace; readonly span: Span | undefined }>();

/** Starts the span of a request, named by its route; if the request is not sampled, still records the caller's trace. */
export function beginTrace(request: RestRequest, route: string, tracer: Tracer): void {
  const given = header(request, 'traceparent');
  const span = tracer.request(`${request.method} ${route}`.trim(), given);
  const trace = requestTrace(span, given);
  if (trace) begun.set(request, { trace, span });
}

/** Ends the span of an answered request. */
export function endTrace(request: RestRequest, status: number): void {
  begun.get(request)?.span?.end(status >= 500 ? `status ${status}` : undefined);
}

/** Returns the trace of a request; undefined if it has none. */
export function findTrace(request: RestRequest): RequestTrace | undefined {
  return begun.get(request)?.trace;
}
