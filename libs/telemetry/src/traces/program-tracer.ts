import { errorText, RateLimitedLogger, withTimeout, type Clock, type Logger, type Span } from '@causeway/runtime';
import type { StepOptions, Tracer } from '@causeway/runtime';
import type { OtlpTracer } from './otlp-spans';

/** Timeout for sending the last spans when a program ends, ms. */
const CLOSE_TIME = 2_000;

/** Receiver of a program's traces, and the sampling ratio. */
export interface ProgramTracerOptions {
  /** URL of an OTLP/HTTP receiver; undefined disables tracing. */
  readonly endpoint: string | undefined;
  /** Share of the traces starting here that is sampled, 0 to 1. */
  readonly ratio: number;
  /** Resource attributes of the program: `service.name` and others. */
  readonly program: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Number of ended spans, and of those that the receiver accepted or did not accept. */
export type SpanCounts = Readonly<Record<'ended' | 'sent' | 'failed', number>>;

/** The tracer of a program. It creates no spans before `start`, and none at all without an endpoint. */
export class ProgramTracer implements Tracer {
  private inner: OtlpTracer | undefined;
  private readonly logger: Logger;
  private readonly counts = { ended: 0, sent: 0, failed: 0 };

  constructor(private readonly options: ProgramTracerOptions) {
    this.logger = RateLimitedLogger.of(options.logger, options.clock);
  }

  /** Loads the exporter if there is an endpoint. */
  async start(): Promise<void> {
    const { endpoint, ratio, program } = this.options;
    if (endpoint === undefined) return;
    const { otlpTracer } = await import('./otlp-spans.js');
    this.inner = otlpTracer({
      endpoint,
      ratio,
      program,
      onEnded: () => (this.counts.ended += 1),
      onSent: (spans, failure) => this.sent(spans, failure),
    });
  }

  get isOn(): boolean {
    return this.inner !== undefined;
  }

  request(name: string, parent: string | undefined): Span | undefined {
    return this.inner?.request(name, parent);
  }

  step(name: string, parent: string | undefined, options?: StepOptions): Span | undefined {
    return parent === undefined ? undefined : this.inner?.step(name, parent, options);
  }

  /** Sends the waiting spans, for at most two seconds; then stops tracing. */
  async close(): Promise<void> {
    const { inner } = this;
    this.inner = undefined;
    if (!inner) return;
    await withTimeout(this.options.clock, CLOSE_TIME, inner.close()).catch((error: unknown) =>
      this.options.logger.warn('the last traces were not sent', { error: errorText(error) }),
    );
  }

  /** Returns the number of spans by result; undefined if the program does not trace. */
  spans(): SpanCounts | undefined {
    return this.inner && this.counts;
  }

  private sent(spans: number, failure: Error | undefined): void {
    this.counts[failure ? 'failed' : 'sent'] += spans;
    if (failure) this.logger.warn('traces could not be sent', { spans, error: errorText(failure) });
  }
}
