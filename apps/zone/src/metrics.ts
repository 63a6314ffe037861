import type { Metric } from '@causeway/telemetry';
import type { ZoneLeader } from './zone-leader';

/** What a zone tells besides what every control plane does: addresses and the session with the global. */
export function zoneMetrics(leader: ZoneLeader): readonly Metric[] {
  const pool = (part: 'size' | 'used' | 'resting', help: string): Metric => ({
    name: `vip_pool_${part}`,
    help,
    labels: ['kind'],
    read: () =>
      Object.entries(leader.pools()).map(([kind, figures]) => ({ labels: { kind }, value: Number(figures[part]) })),
  });
  return [
    pool('size', 'Addresses of the range'),
    pool('used', 'Addresses held by services'),
    pool('resting', 'Freed addresses that no other service may get yet'),
    {
      name: 'global_connected',
      help: '1 while this replica holds the session with the global',
      read: () => [{ value: Number(leader.session()?.connected ?? false) }],
    },
  ];
}
