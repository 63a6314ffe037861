import type { Clock } from '@causeway/runtime';
import type { GlobalSync } from '@causeway/sync-kds';
import type { Figure, FigureValue } from '@causeway/telemetry';

type Report = ReturnType<GlobalSync['figures']> extends ReadonlyMap<string, readonly (infer One)[]> ? One : never;

/** How far each zone with a stream on this replica is, by zone, kind and direction (design.md §5 Health is what was applied). */
export function syncFigures(sync: GlobalSync, clock: Clock): readonly Figure[] {
  const figure = (name: string, help: string, value: (report: Report) => number | undefined): Figure => ({
    name,
    help,
    labels: ['zone', 'kind', 'direction'],
    read: () =>
      [...sync.figures()].flatMap(([zone, reports]) =>
        reports.flatMap((report) => values(zone, report, value(report))),
      ),
  });
  return [
    figure('sync_lag_seconds', 'Since when something waits to be applied; 0 = nothing does', ({ behindSince }) =>
      behindSince === undefined ? 0 : (clock.now() - behindSince) / 1_000,
    ),
    figure('sync_offered_revision', 'Newest revision offered to the zone', ({ offered }) => offered),
    figure('sync_acked_revision', 'Newest revision the zone has answered', ({ acked }) => acked),
    figure('sync_applied_revision', 'Newest revision of the zone applied here', ({ applied }) => applied),
    figure('sync_rejected', 'Resources that stand rejected', ({ rejections }) => rejections.length),
    figure('sync_held', 'Resources kept though a new life of the zone does not name them', ({ held }) => held),
    {
      name: 'sync_zones_connected',
      help: 'Zones with a stream on this replica',
      read: () => [{ value: sync.figures().size }],
    },
  ];
}

function values(zone: string, { kind, direction }: Report, value: number | undefined): FigureValue[] {
  return value === undefined ? [] : [{ labels: { zone, kind, direction }, value }];
}
