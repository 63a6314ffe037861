import type { Clock } from '@causeway/runtime';
import { computeLag, type KindReport } from '@causeway/kds';
import { createHistogram, type HistogramMetric, type Metric } from '@causeway/telemetry';

/** Reports by zone. */
export type SyncReports = ReadonlyMap<string, readonly KindReport[]>;

/**
 * Maximum number of label sets of one metric: operators create any number of zones and kinds, and a scraper keeps each
 * for weeks. Further ones share one series.
 */
export const MAX_SERIES = 2_000;

/** Label of the zones and kinds beyond the limit; no zone can have this name. */
export const OTHERS = '_others';

const LABELS = ['zone', 'kind', 'direction'] as const;

/**
 * Metrics of the progress of sync for each zone, kind and direction with a stream at this replica (docs/design.md §5
 * Health is what was applied).
 */
export function syncMetrics(reports: () => SyncReports, clock: Pick<Clock, 'now'>): readonly Metric[] {
  const gauge = (name: string, help: string, value: ValueOf, fold: Combine): Metric => ({
    name,
    help,
    labels: LABELS,
    read: () => bounded(reports(), value, fold),
  });
  return [
    gauge(
      'sync_lag_seconds',
      'Waiting time of the oldest change that is not applied; 0 = none waits',
      seconds,
      greatest,
    ),
    gauge('sync_waiting', 'Resources that wait to be sent or acknowledged', ({ waiting }) => waiting, sum),
    gauge('sync_offered_revision', 'Newest revision offered to the peer', ({ offered }) => offered, smallest),
    gauge(
      'sync_acked_revision',
      'Newest revision that the peer has acknowledged or rejected',
      ({ acked }) => acked,
      smallest,
    ),
    gauge('sync_applied_revision', "Newest revision of the peer's applied here", ({ applied }) => applied, smallest),
    gauge('sync_rejected', 'Resources that stand rejected, 20 at most', ({ rejections }) => rejections.length, sum),
    gauge(
      'sync_held',
      'Resources kept though a new incarnation of the peer does not name them',
      ({ held }) => held,
      sum,
    ),
  ];

  function seconds(report: KindReport): number {
    return computeLag(report, clock.now()) / 1_000;
  }
}

/** Histogram of the time from the commit at the origin until the change is applied here, seconds. */
export function propagationHistogram(): HistogramMetric {
  return createHistogram({
    name: 'propagation_seconds',
    help: 'From the commit at the origin until a change is applied here, by the clocks of both; never below 0',
    labels: ['kind'],
    bounds: [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  });
}

type ValueOf = (report: KindReport) => number | undefined;
type Combine = (a: number, b: number) => number;
type Series = ReturnType<Metric['read']> extends Iterable<infer One> ? One : never;

const sum: Combine = (a, b) => a + b;
const greatest: Combine = (a, b) => Math.max(a, b);
const smallest: Combine = (a, b) => Math.min(a, b);

/** Limits the label sets in the order of zone names, so that each scrape shows the same zones. */
function bounded(reports: SyncReports, value: ValueOf, fold: Combine): readonly Series[] {
  const shown: Series[] = [];
  const others = new Map<string, number>();
  for (const zone of [...reports.keys()].sort()) {
    for (const report of reports.get(zone) ?? []) {
      const current = value(report);
      const { kind, direction } = report;
      if (current === undefined) continue;
      if (shown.length < MAX_SERIES) {
        shown.push({ labels: { zone, kind, direction }, value: current });
        continue;
      }
      const before = others.get(direction);
      others.set(direction, before === undefined ? current : fold(before, current));
    }
  }
  const rest = [...others].map(([direction, folded]) => ({
    labels: { zone: OTHERS, kind: OTHERS, direction },
    value: folded,
  }));
  return [...shown, ...rest];
}
