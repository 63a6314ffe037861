/** Creates and sends spans with OpenTelemetry. Loaded only by a program that sends traces: the packages take time and memory. */
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import type { Context, Span as OtelSpan, SpanContext, Tracer as OtelTracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import { formatTraceparent, parseTraceparent } from '@causeway/resources';
import type { Span, StepOptions, Tracer } from '@causeway/runtime';

/** Maximum number of spans that wait to be sent, and of spans per request; further ones are dropped. */
const [MAX_WAITING, BATCH] = [2_048, 512];
/** Maximum delay from a span to the request that sends it, ms. */
const GATHER = 1_000;
/** Timeout of a request to the receiver, ms; its spans then count as not sent. */
const SEND_TIMEOUT = 5_000;

/** `ExportResultCode.SUCCESS` of a package that is not a dependency. */
const EXPORTED = 0;

/** Options of a program's spans. */
export interface OtlpOptions {
  /** URL of the receiver, without the path `/v1/traces`. */
  readonly endpoint: string;
  /** Share of the traces starting here that is sampled, 0 to 1. */
  readonly ratio: number;
  /** Resource attributes of the program: `service.name` and others. */
  readonly program: Readonly<Record<string, string>>;
  /** Called after each request to the receiver. */
  readonly onSent: (spans: number, failure: Error | undefined) => void;
  /** Called for each ended span. */
  readonly onEnded: () => void;
}

/** A tracer with an exporter; `close` sends the waiting spans, for at most the timeout of a request. */
export interface OtlpTracer extends Tracer {
  close(): Promise<void>;
}

/** Creates a tracer that exports its spans. */
export function otlpTracer(options: OtlpOptions): OtlpTracer {
  const exporter = new OTLPTraceExporter({
    url: `${options.endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: SEND_TIMEOUT,
    concurrencyLimit: 1,
  });
  const processor = new BatchSpanProcessor({
    exporter: new CountingExporter(exporter, options.onSent),
    maxQueueSize: MAX_WAITING,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: GATHER,
    exportTimeoutMillis: 2 * SEND_TIMEOUT,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ ...options.program }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.ratio) }),
    spanProcessors: [processor],
  });
  return new SpanMaker(provider.getTracer('causeway'), options.onEnded, () => provider.shutdown());
}

class SpanMaker implements OtlpTracer {
  readonly isOn = true;

  constructor(
    private readonly tracer: OtelTracer,
    private readonly onEnded: () => void,
    readonly close: () => Promise<void>,
  ) {}

  request(name: string, parent: string | undefined): Span | undefined {
    const context = parseContext(parent) ?? ROOT_CONTEXT;
    return this.sampled(this.tracer.startSpan(name, { kind: SpanKind.SERVER }, context));
  }

  step(name: string, parent: string | undefined, { attributes = {}, startedAt }: StepOptions = {}): Span | undefined {
    const context = parent === undefined ? undefined : parseContext(parent);
    if (!context) return undefined;
    const time = startedAt === undefined ? {} : { startTime: startedAt };
    return this.sampled(this.tracer.startSpan(name, { attributes, ...time }, context));
  }

  private sampled(span: OtelSpan): Span | undefined {
    const context = span.spanContext();
    if (!isSampled(context)) return undefined;
    const { traceId, spanId } = context;
    return {
      traceparent: formatTraceparent({ traceId, spanId, isSampled: true }),
      end: (failure) => {
        if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
        span.end();
        this.onEnded();
      },
    };
  }
}

function parseContext(traceparent: string | undefined): Context | undefined {
  const parent = parseTraceparent(traceparent);
  if (!parent) return undefined;
  const { traceId, spanId } = parent;
  const traceFlags = parent.isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function isSampled({ traceFlags }: SpanContext): boolean {
  return (traceFlags & TraceFlags.SAMPLED) !== 0;
}

/** Reports the result of each request to the receiver. */
class CountingExporter implements SpanExporter {
  constructor(
    private readonly inner: SpanExporter,
    private readonly onSent: OtlpOptions['onSent'],
  ) {}

  export(spans: ReadableSpan[], answered: Parameters<SpanExporter['export']>[1]): void {
    this.inner.export(spans, (result) => {
      this.onSent(spans.length, Number(result.code) === EXPORTED ? undefined : (result.error ?? new Error('not sent')));
      answered(result);
    });
  }

  async forceFlush(): Promise<void> {
    await this.inner.forceFlush?.();
  }

  shutdown(): Promise<void> {
    return this.inner.shutdown();
  }
}
