import {
  QUERIES,
  serverCertificateMetrics,
  SharedTelemetry,
  syncMetrics,
  watchMetrics,
  type ControlPlaneCore,
} from '@causeway/control-plane';
import { GLOBAL_SYNC, type GlobalSync, type ZoneMetrics } from '@causeway/kds';
import { injectFrom, type Clock, type Injection } from '@causeway/runtime';
import type { Metric, TelemetryOptions } from '@causeway/telemetry';
import { ZoneSecurity } from './zone-security.module';

const SOURCES = { shared: SharedTelemetry, sync: GLOBAL_SYNC, queries: QUERIES, security: ZoneSecurity };

/** The telemetry options of a global: the shared ones, and its zones. */
export function globalTelemetry({ clock }: Pick<ControlPlaneCore, 'clock'>): Injection<TelemetryOptions> {
  return injectFrom(SOURCES, ({ shared, sync, queries, security }) => {
    const base = shared.options();
    const kds = { name: 'KDS', certificates: () => security.certificates() };
    return {
      ...base,
      metrics: [
        ...base.metrics,
        ...watchMetrics(() => queries.watches.metrics()),
        ...zoneMetrics(sync, clock),
        {
          name: 'zone_tokens_contested_total',
          help: 'Zone tokens that two holders tried to renew, or that were shown after a renewed one had ended them, since the start',
          read: () => [{ value: security.contestedTokens }],
        },
        ...serverCertificateMetrics(() => [...shared.listeners(), kds]),
      ],
      warnings: () => [...(base.warnings?.() ?? []), ...security.warnings()],
    };
  });
}

function zoneMetrics(sync: GlobalSync, clock: Clock): readonly Metric[] {
  return [
    ...syncMetrics(() => sync.reports(), clock),
    {
      name: 'sync_zones_connected',
      help: 'Zones with a stream on this replica',
      read: () => [{ value: sync.reports().size }],
    },
    cost('sync_inbound_queued_bytes', 'Bytes of zones’ messages that wait to be taken in', 'queuedBytes'),
    cost(
      'sync_zones_held_back',
      'Zones that are throttled because they send faster than this replica applies changes',
      'heldBack',
    ),
    cost(
      'sync_streams_ended_for_bounds_total',
      'Streams ended because their zone went beyond a bound, since the start',
      'ended',
    ),
    cost('sync_unanswered_bytes', 'Bytes that were sent to zones and not answered', 'unansweredBytes'),
  ];

  function cost(name: string, help: string, of: keyof ZoneMetrics): Metric {
    return { name, help, read: () => [{ value: sync.metrics()[of] }] };
  }
}
