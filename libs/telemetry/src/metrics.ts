import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { EventLoopLag, registerEventLoopLag } from './event-loop-lag';

/** A metric whose value is read when Prometheus scrapes. */
export interface Metric {
  /** Name without `METRIC_PREFIX`; a name that ends with `_total` means a counter. */
  readonly name: string;
  /** If absent, a counter or a gauge by the name. */
  readonly type?: 'histogram';
  readonly help: string;
  readonly labels?: readonly string[];
  /** Returns one value per set of labels. */
  readonly read: () => Iterable<MetricValue>;
}

/** One value of a metric, with its labels. */
export interface MetricValue {
  /** Suffix of a part of a histogram: `_bucket`, `_sum`, `_count`. */
  readonly suffix?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The name, labels and buckets of a histogram. */
export interface HistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of the buckets in ascending order; `+Inf` is added. */
  readonly bounds: readonly number[];
}

/** A histogram, such as one of durations. Each value is observed when it occurs, because nothing stores all of them. */
export interface HistogramMetric {
  readonly metric: Histogram;
  observe(labels: Readonly<Record<string, string>>, value: number): void;
}

/** Creates a histogram; `createMetrics` exposes it. */
export function createHistogram({ name, help, labels, bounds }: HistogramOptions): HistogramMetric {
  const full = METRIC_PREFIX + name;
  const metric = new Histogram({ name: full, help, labelNames: [...labels], buckets: [...bounds], registers: [] });
  return { metric, observe: (of, value) => metric.observe({ ...of }, value) };
}

/** Prefix of the product's metrics. Those of the process (`process_`) and of Node (`nodejs_`) keep their names. */
export const METRIC_PREFIX = 'causeway_';

/**
 * Maximum number of series of one metric in a scrape, because a scraper keeps every series for weeks. Metrics that grow
 * with operators' resources aggregate the rest themselves, or are truncated here.
 */
export const MAX_SERIES = 2_100;

/** Gauges whose names end like counters' (`promtool check metrics` complains); their parts by type have other names. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Longest delay of a timer, ms: Node's own samples of the event loop's delay would wake an idle process. */
const NEVER = 2 ** 31 - 1;

/** Of this process, whose registries share it. */
const eventLoopLag = new EventLoopLag();

/** Creates the registry of one program: Node's default metrics, `metrics` and `histograms`, with `METRIC_PREFIX`. */
export function createMetrics(metrics: readonly Metric[], histograms: readonly HistogramMetric[] = []): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER });
  eventLoopLag.start();
  registerEventLoopLag(registry, eventLoopLag);
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  for (const metric of metrics) registry.registerMetric(readWhenScraped(metric));
  for (const { metric } of histograms) registry.registerMetric(metric);
  return registry;
}

/** Returns the type by the name: only counters end with `_total`. */
export function metricType({ name, type }: Pick<Metric, 'name' | 'type'>): 'counter' | 'gauge' | 'histogram' {
  return type ?? (name.endsWith('_total') ? 'counter' : 'gauge');
}

/** Adapts a metric to the registry, which calls `get` at each scrape and writes `values` unchanged. */
function readWhenScraped(metric: Metric): Gauge {
  const { help } = metric;
  const name = METRIC_PREFIX + metric.name;
  const get = (): object => ({
    name,
    help,
    aggregator: 'sum',
    type: metricType(metric),
    values: collectValues(name, metric),
  });
  return Object.assign(new Gauge({ name, help, registers: [] }), { get });
}

function collectValues(name: string, metric: Metric): readonly object[] {
  const all = [...metric.read()].slice(0, MAX_SERIES);
  return all.map(({ suffix = '', labels = {}, value }) => ({ value, labels, metricName: name + suffix }));
}
