/** Logs, metrics, traces and health of a program (libs/telemetry/README.md). */
export { createHistogram, type HistogramMetric, type Metric, type MetricValue } from './metrics';
export { createLogger, type ProgramLogger } from './pino-logger';
export { ProgramTracer } from './traces/program-tracer';
export { TelemetryModule, type TelemetryOptions } from './telemetry.module';
