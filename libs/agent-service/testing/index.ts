export { xdsMetrics } from '../src/metric-definitions';
