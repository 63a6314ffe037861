import { parseTraceparent } from '@causeway/resources';

/** Facts of a span, by names that the trace shows. */
type SpanAttributes = Readonly<Record<string, string | number>>;

/** A span of a sampled trace that has begun. */
export interface Span {
  /** Its W3C traceparent, for what is done because of it. */
  readonly traceparent: string;
  /** Ends it, as failed where `failure` says why. Has to be called once. */
  end(failure?: string): void;
}

/** Options of a step's span. */
export interface StepOptions {
  readonly attributes?: SpanAttributes;
  /** ms since 1970; now unless given. */
  readonly startedAt?: number;
}

/**
 * Exporter of a program's spans. Never throws and does no I/O of its own; spans that cannot be sent are dropped. If
 * nothing is traced, a call costs nothing, and there is no span.
 */
export interface Tracer {
  /** False where there never is a span, so that nothing need be prepared for one. */
  readonly isOn: boolean;
  /** Begins the span of a request: in the trace of the caller where `parent` is a traceparent, else in a new one if it is sampled. */
  request(name: string, parent: string | undefined): Span | undefined;
  /** Begins a step in the trace of `parent`; none without a parent. */
  step(name: string, parent: string | undefined, options?: StepOptions): Span | undefined;
}

/** Traces nothing. */
export const noTracer: Tracer = { isOn: false, request: () => undefined, step: () => undefined };

/** The trace that a request belongs to. */
export interface RequestTrace {
  readonly traceId: string;
  /** Parent of the spans of the request's work; absent if this program does not trace the request. */
  readonly traceparent?: string;
}

/** The trace of a request: that of its span, else the one that its caller named; undefined where neither is there. */
export function requestTrace(span: Span | undefined, given: string | undefined): RequestTrace | undefined {
  const traceId = parseTraceparent(span?.traceparent ?? given)?.traceId;
  if (traceId === undefined) return undefined;
  return span ? { traceId, traceparent: span.traceparent } : { traceId };
}

/** Runs `work` as a step: it is given the traceparent that its own steps hang on. */
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
