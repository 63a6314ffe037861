import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** One figure read when somebody asks: name, meaning, and a value a label set. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly read: () => Iterable<MetricValue>;
}

export interface MetricValue {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** How values are spread, such as times: what happened is told of when it happens, since no state remembers all of it. */
export interface HistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of the buckets, ascending; a last one without bound is added. */
  readonly bounds: readonly number[];
}

/** A distribution to tell values to. */
export interface HistogramMetric {
  readonly metric: Histogram;
  observe(labels: Readonly<Record<string, string>>, value: number): void;
}

/** Makes a distribution; `createMetrics` shows it. */
export function createHistogram({ name, help, labels, bounds }: HistogramOptions): HistogramMetric {
  const metric = new Histogram({ name, help, labelNames: [...labels], buckets: [...bounds], registers: [] });
  return { metric, observe: (of, value) => metric.observe({ ...of }, value) };
}

/** A registry of its own for a program: Node's own figures, `figures`, which are read when somebody asks, and distributions. */
export function createMetrics(figures: readonly Metric[], distributions: readonly HistogramMetric[] = []): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const figure of figures) addMetric(registry, figure);
  for (const { metric } of distributions) registry.registerMetric(metric);
  return registry;
}

/** Adds one pulled figure to a registry. */
export function addMetric(registry: Registry, figure: Metric): void {
  const gauge: Gauge = new Gauge({
    name: figure.name,
    help: figure.help,
    labelNames: [...(figure.labels ?? [])],
    registers: [registry],
    collect: () => {
      gauge.reset();
      for (const { labels = {}, value } of figure.read()) gauge.set(labels, value);
    },
  });
}
