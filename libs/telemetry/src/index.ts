/**
 * What a running program says of itself: logs, metrics, health.
 *
 *   Logger → pino;   figures → /metrics;   readiness → /ready
 */
export { createLogger, type LogOptions } from './pino-logger';
export {
  addMetric,
  createHistogram,
  createMetrics,
  type HistogramMetric,
  type HistogramOptions,
  type Metric,
  type MetricValue,
} from './metrics';
export { TelemetryModule, type TelemetryOptions } from './telemetry.module';
export { serveDiagnostics, type Diagnostics, type DiagnosticsSources } from './diagnostics';
