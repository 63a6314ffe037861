import { summary } from '../support/summary';
import type { Probed } from './probe';
import type { LogSample, ProcessSample, TableSample } from './samples';
import { floors, slopePerHour, type Point } from './trend';

/** Everything that was looked at, at one moment. */
export interface Sample {
  /** ms since the beginning. */
  readonly at: number;
  /** Load of the machine in the last minute. */
  readonly load: number;
  readonly processes: readonly ProcessSample[];
  readonly tables: readonly TableSample[];
  readonly logs: readonly LogSample[];
  /** Since the sample before. */
  readonly probes: readonly Probed[];
}

const WINDOW = 5 * 60_000;
/** Shortest life of a process from which growth can be read, ms. */
const LEAST_LIFE = 15 * 60_000;
/** The first part of a life, in which caches fill. */
const WARM = 10 * 60_000;
const MB = 1_000_000;

/** Summarises the samples of a soak: growth of each long life of a process, growth of tables, latency in the first and last quarter. */
export function summarise(samples: readonly Sample[]): Readonly<Record<string, unknown>> {
  const end = samples.at(-1)?.at ?? 0;
  const probes = samples.flatMap((sample) => sample.probes);
  const quarter = (n: number): readonly Probed[] =>
    probes.filter(({ at }) => at >= (end * n) / 4 && at < (end * (n + 1)) / 4);
  return {
    load: { mean: mean(samples.map(({ load }) => load)), max: Math.max(...samples.map(({ load }) => load)) },
    lives: lives(samples),
    databases: databases(samples),
    first_quarter: latency(quarter(0)),
    last_quarter: latency(quarter(3)),
    cpu_ms_per_revision: { second_quarter: cost(samples, 1), last_quarter: cost(samples, 3) },
    lost_probes: probes.filter(({ made, gone }) => made === undefined || gone === undefined).length,
  };
}

/**
 * Returns the CPU time of all processes that lived through a quarter of the time, for each revision of all databases, ms: on a busy host it is
 * steadier than latency.
 */
function cost(samples: readonly Sample[], quarter: number): number | undefined {
  const end = samples.at(-1)?.at ?? 0;
  const within = samples.filter(({ at }) => at >= (end * quarter) / 4 && at < (end * (quarter + 1)) / 4);
  const [first, last] = [within[0], within.at(-1)];
  if (!first || !last) return undefined;
  const revisions = ({ logs }: Sample): number => logs.reduce((sum, { revision }) => sum + revision, 0);
  const lives = new Map<number, { least: number; most: number }>();
  for (const { pid, cpu } of within.flatMap(({ processes }) => processes)) {
    const life = lives.get(pid) ?? { least: cpu, most: cpu };
    lives.set(pid, { least: Math.min(life.least, cpu), most: Math.max(life.most, cpu) });
  }
  const seconds = [...lives.values()].reduce((sum, { least, most }) => sum + most - least, 0);
  return round((seconds * 1_000) / Math.max(1, revisions(last) - revisions(first)));
}

function latency(probes: readonly Probed[]): Readonly<Record<string, unknown>> {
  const calm = probes.filter(({ disturbed }) => !disturbed);
  const rough = probes.filter(({ disturbed }) => disturbed);
  const of = (list: readonly Probed[], field: 'made' | 'gone' | 'dns'): unknown =>
    summary(list.flatMap((probed) => probed[field] ?? []));
  return {
    calm: { made: of(calm, 'made'), gone: of(calm, 'gone'), dns: of(calm, 'dns') },
    disturbed: { made: of(rough, 'made'), gone: of(rough, 'gone') },
  };
}

/** Growth an hour in each life of a process that was long enough, after its warm-up. */
function lives(samples: readonly Sample[]): readonly unknown[] {
  const byLife = new Map<string, { readonly at: number; readonly sample: ProcessSample }[]>();
  for (const { at, processes } of samples) {
    for (const sample of processes) {
      const life = `${sample.replica} ${sample.pid}`;
      byLife.set(life, [...(byLife.get(life) ?? []), { at, sample }]);
    }
  }
  return [...byLife.values()].flatMap((life) => {
    const [first, last] = [life[0], life.at(-1)];
    if (!first || !last || last.at - first.at < LEAST_LIFE) return [];
    const later = life.filter(({ at }) => at - first.at >= WARM);
    const of = (gauge: string, unit = 1): Point[] =>
      later.map(({ at, sample }) => ({ at, value: (sample.gauges[gauge] ?? 0) / unit }));
    const growth = (gauge: string, unit = 1): unknown => {
      const points = floors(of(gauge, unit), WINDOW);
      return { from: round(points[0]?.value), to: round(points.at(-1)?.value), per_hour: round(slopePerHour(points)) };
    };
    const lag = of('nodejs_eventloop_lag_p99_seconds', 0.001).map(({ value }) => value);
    return [
      {
        replica: last.sample.replica,
        minutes: Math.round((last.at - first.at) / 60_000),
        cpu_percent: round(((last.sample.cpu - first.sample.cpu) / ((last.at - first.at) / 1_000)) * 100),
        rss_mb: growth('process_resident_memory_bytes', MB),
        heap_mb: growth('nodejs_heap_size_used_bytes', MB),
        external_mb: growth('nodejs_external_memory_bytes', MB),
        fds: growth('process_open_fds'),
        lag_p99_ms: { median: round(lag.sort((a, b) => a - b)[Math.floor(lag.length / 2)]), max: round(lag.at(-1)) },
      },
    ];
  });
}

/** Each control plane's database at a quarter of the time, when the number of things is steady, and at the end. */
function databases(samples: readonly Sample[]): Readonly<Record<string, unknown>> {
  const end = samples.at(-1)?.at ?? 0;
  const later = samples.filter(({ at }) => at >= end / 4);
  const [first, last] = [later[0], later.at(-1)];
  return Object.fromEntries(
    (last?.logs ?? []).map((log) => {
      const before = first?.logs.find(({ owner }) => owner === log.owner);
      const points = (pick: (sample: LogSample) => number): Point[] =>
        later.flatMap(({ at, logs }) =>
          logs.filter(({ owner }) => owner === log.owner).map((each) => ({ at, value: pick(each) })),
        );
      const tables = (last?.tables ?? []).filter(({ owner }) => owner === log.owner);
      const grown = tables.map((table): readonly [string, unknown] => {
        const old = first?.tables.find(({ owner, table: name }) => owner === table.owner && name === table.table);
        const dead = later.flatMap((sample) =>
          sample.tables.flatMap((each) => (each.owner === table.owner && each.table === table.table ? each.dead : [])),
        );
        return [
          table.table,
          { mb: [round((old?.bytes ?? 0) / MB), round(table.bytes / MB)], most_dead: Math.max(...dead) },
        ];
      });
      return [
        log.owner,
        {
          mb: [round((before?.bytes ?? 0) / MB), round(log.bytes / MB)],
          mb_per_hour: round(slopePerHour(points(({ bytes }) => bytes / MB))),
          living: [before?.living, log.living],
          tombstones: [before?.tombstones, log.tombstones],
          connections: [before?.connections, log.connections],
          revisions: log.revision - (before?.revision ?? 0),
          tables: Object.fromEntries(grown),
        },
      ];
    }),
  );
}

function mean(values: readonly number[]): number {
  return round(values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)) ?? 0;
}

function round(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value * 100) / 100;
}
