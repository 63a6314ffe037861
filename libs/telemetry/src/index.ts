/**
 * What operators see of a running program: logs, metrics, traces, health.
 *
 *   Logger → pino;   Metric, HistogramMetric → /metrics;   readiness → /ready;   Tracer → OTLP
 */
export { createHistogram, type HistogramMetric, type Metric, type MetricValue } from './metrics';
export { createLogger, type ProgramLogger } from './pino-logger';
export { ProgramTracer } from './traces/program-tracer';
export { TelemetryModule, type TelemetryOptions } from './telemetry.module';
