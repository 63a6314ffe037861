/** Logs, metrics, traces and health of a program (libs/telemetry/README.md). */
export { serveDiagnostics, type Diagnostics } from './diagnostics';
export {
  createHistogram,
  createMetrics,
  METRIC_PREFIX,
  MOST_SERIES,
  typeOf,
  type HistogramMetric,
  type Metric,
  type MetricValue,
} from './metrics';
export { createLogger, type LogLevel, type ProgramLogger } from './pino-logger';
export { ProgramTracer, type ProgramTracerOptions, type SpanCounts } from './traces/program-tracer';
export { TelemetryModule, type TelemetryOptions } from './telemetry.module';
