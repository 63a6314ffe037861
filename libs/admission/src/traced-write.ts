import { asStep, noTracer } from '@causeway/runtime';
import type { Change, WriteRequest, WriteResult } from '@causeway/store';
import type { AdmissionParts } from './admission-parts';
import type { WriteContext } from './rights';

/** Common part of every request. */
interface ContextedRequest {
  readonly context: WriteContext;
}

/** Runs a request as a span of its trace; later spans become its children. */
export function tracedRequest<Q extends ContextedRequest, T>(
  { tracer = noTracer }: Pick<AdmissionParts, 'tracer'>,
  name: string,
  request: Q,
  run: (request: Q) => Promise<T>,
): Promise<T> {
  const trace = request.context.origin?.trace;
  if (!trace?.traceparent) return run(request);
  return asStep({ tracer, name: `admission ${name}`, parent: trace.traceparent }, (traceparent) => {
    const { origin, ...context } = request.context;
    const innerTrace = traceparent === undefined ? trace : { ...trace, traceparent };
    return run(origin ? { ...request, context: { ...context, origin: { ...origin, trace: innerTrace } } } : request);
  });
}

/** Writes to the store as a span of a request's trace; the changes carry the trace to their consequences. */
export function tracedWrite(
  { store, tracer = noTracer }: Pick<AdmissionParts, 'store' | 'tracer'>,
  { origin }: WriteContext,
  request: WriteRequest,
): Promise<WriteResult> {
  const parent = origin?.trace?.traceparent;
  if (parent === undefined) return store.write(request);
  const attributes = { 'causeway.changes': request.changes.length };
  return asStep({ tracer, name: 'store write', parent, attributes }, (traceparent) =>
    store.write({ ...request, changes: request.changes.map((change) => withTrace(change, traceparent)) }),
  );
}

function withTrace(change: Change, traceparent: string | undefined): Change {
  return change.type === 'delete' ? change : { ...change, traceparent };
}
