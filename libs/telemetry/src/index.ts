/**
 * What a running program says of itself: logs, metrics, health.
 *
 *   Logger → pino;   figures → /metrics;   readiness → /ready
 */
export { createLogger, type LogOptions } from './pino-logger';
export {
  addFigure,
  createDistribution,
  createMetrics,
  type Distribution,
  type DistributionFigure,
  type Figure,
  type FigureValue,
} from './figures';
export { serveDiagnostics, type Diagnostics, type DiagnosticsSources } from './diagnostics';
