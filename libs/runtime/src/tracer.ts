import { parseTraceparent } from '@causeway/resources';

/** Attributes of a span. */
type SpanAttributes = Readonly<Record<string, string | number>>;

/** A started span of a sampled trace. */
export interface Span {
  /** Its W3C traceparent, for child spans. */
  readonly traceparent: string;
  /** Ends the span, as failed if `failure` is given. Must be called once. */
  end(failure?: string): void;
}

/** Options of a step's span. */
export interface StepOptions {
  readonly attributes?: SpanAttributes;
  /** Start of the span, ms since 1970; now unless given. */
  readonly startedAt?: number;
}

/**
 * Exports a program's spans. Never throws and does no I/O of its own; spans that cannot be sent are dropped. Without
 * tracing, calls cost nothing and create no span.
 */
export interface Tracer {
  /** False if no span is ever created, so that callers need not prepare any. */
  readonly isOn: boolean;
  /** Starts the span of a request: in the caller's trace if `parent` is a traceparent, else in a new trace if it is sampled. */
  request(name: string, parent: string | undefined): Span | undefined;
  /** Starts the span of a step in the trace of `parent`; none without a parent. */
  step(name: string, parent: string | undefined, options?: StepOptions): Span | undefined;
}

/** Traces nothing. */
export const noTracer: Tracer = { isOn: false, request: () => undefined, step: () => undefined };

/** The trace of a request. */
export interface RequestTrace {
  readonly traceId: string;
  /** Parent of the spans of the request's work; absent if this program does not trace the request. */
  readonly traceparent?: string;
}

/** Returns the trace of a request: that of its span, else the caller's; undefined if there is neither. */
export function requestTrace(span: Span | undefined, given: string | undefined): RequestTrace | undefined {
  const traceId = parseTraceparent(span?.traceparent ?? given)?.traceId;
  if (traceId === undefined) return undefined;
  return span ? { traceId, traceparent: span.traceparent } : { traceId };
}

/** Runs `work` as a step: it gets the traceparent for its own steps. */
export async function asStep<T>(
  { tracer, name, parent, attributes }: { tracer: Tracer; name: string; parent: string | undefined } & StepOptions,
  work: (traceparent: string | undefined) => Promise<T>,
): Promise<T> {
  const span = tracer.step(name, parent, attributes && { attributes });
  if (!span) return work(parent);
  try {
    const result = await work(span.traceparent);
    span.end();
    return result;
  } catch (error) {
    span.end(error instanceof Error ? error.name : 'failed');
    throw error;
  }
}
