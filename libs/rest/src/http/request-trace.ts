import { requestTrace, type RequestTrace, type Span, type Tracer } from '@causeway/runtime';
import { header, type RestRequest } from './rest-request';

const begun = new WeakMap<object, { readonly trace: RequestTrace; readonly span: Span | undefined }>();

/** Begins the span of a request, named by its route; where it is not traced here, the trace of its caller is known all the same. */
export function beginTrace(request: RestRequest, route: string, tracer: Tracer): void {
  const given = header(request, 'traceparent');
  const span = tracer.request(`${request.method} ${route}`.trim(), given);
  const trace = requestTrace(span, given);
  if (trace) begun.set(request, { trace, span });
}

/** Ends the span of a request that was answered. */
export function endTrace(request: RestRequest, status: number): void {
  begun.get(request)?.span?.end(status >= 500 ? `status ${status}` : undefined);
}

/** The trace of a request; undefined where it belongs to none. */
export function findTrace(request: RestRequest): RequestTrace | undefined {
  return begun.get(request)?.trace;
}
