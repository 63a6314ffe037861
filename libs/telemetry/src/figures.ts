import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** One figure read when somebody asks: name, meaning, and a value a label set. */
export interface Figure {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly read: () => Iterable<FigureValue>;
}

export interface FigureValue {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A registry of its own for a program: Node's own figures and `figures`, which are pulled, never pushed. */
export function createMetrics(figures: readonly Figure[]): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const figure of figures) addFigure(registry, figure);
  return registry;
}

/** Adds one pulled figure to a registry. */
export function addFigure(registry: Registry, figure: Figure): void {
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
