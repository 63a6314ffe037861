import { Dataplane } from '@causeway/kinds';
import { asStep, noTracer } from '@causeway/runtime';
import type { Change, ResourceStore, WriteRequest, WriteResult } from '@causeway/store';
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

/**
 * Writes to the store as a span of a request's trace; the changes carry the trace to their consequences. Resources are created with what control
 * loops give to them.
 */
export function tracedWrite(
  parts: Pick<AdmissionParts, 'store' | 'tracer' | 'creations'>,
  { origin }: WriteContext,
  request: WriteRequest,
): Promise<WriteResult> {
  const { tracer = noTracer } = parts;
  const writer = chooseWriter(parts, request);
  const parent = origin?.trace?.traceparent;
  if (parent === undefined) return writer.write(request);
  const attributes = { 'causeway.changes': request.changes.length };
  return asStep({ tracer, name: 'store write', parent, attributes }, (traceparent) =>
    writer.write({ ...request, changes: request.changes.map((change) => withTrace(change, traceparent)) }),
  );
}

/** Dataplanes that the same write creates are not counted yet: their services wait for the loops, so that no zone sees them as Unavailable first. */
function chooseWriter(
  { store, creations = store }: Pick<AdmissionParts, 'store' | 'creations'>,
  { changes }: WriteRequest,
): Pick<ResourceStore, 'write'> {
  return changes.some(({ id }) => id.kind === Dataplane.name) ? store : creations;
}

function withTrace(change: Change, traceparent: string | undefined): Change {
  return change.type === 'delete' ? change : { ...change, traceparent };
}
