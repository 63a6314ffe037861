import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** A metric that is read when Prometheus scrapes: a gauge, or a counter that its owner counts. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** One value for each set of labels. */
  readonly read: () => Iterable<MetricValue>;
}

/** One value of a metric, with its labels. */
export interface MetricValue {
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

/** A histogram, such as one of times. Each value is observed when it occurs, because no state keeps all of them. */
export interface HistogramMetric {
  readonly metric: Histogram;
  observe(labels: Readonly<Record<string, string>>, value: number): void;
}

/** Makes a histogram; `createMetrics` exposes it. */
export function createHistogram({ name, help, labels, bounds }: HistogramOptions): HistogramMetric {
  const metric = new Histogram({ name, help, labelNames: [...labels], buckets: [...bounds], registers: [] });
  return { metric, observe: (of, value) => metric.observe({ ...of }, value) };
}

/** A registry for one program: Node's default metrics, `metrics` and `histograms`. */
export function createMetrics(metrics: readonly Metric[], histograms: readonly HistogramMetric[] = []): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const metric of metrics) addMetric(registry, metric);
  for (const { metric } of histograms) registry.registerMetric(metric);
  return registry;
}

function addMetric(registry: Registry, metric: Metric): void {
  const gauge: Gauge = new Gauge({
    name: metric.name,
    help: metric.help,
    labelNames: [...(metric.labels ?? [])],
    registers: [registry],
    collect: () => {
      gauge.reset();
      for (const { labels = {}, value } of metric.read()) gauge.set(labels, value);
    },
  });
}
