import { syncFigures } from '@causeway/control-plane';
import type { Clock } from '@causeway/runtime';
import type { GlobalSync } from '@causeway/sync-kds';
import type { Figure } from '@causeway/telemetry';

/** What a global tells besides what every control plane does: its zones. */
export function globalFigures(sync: GlobalSync, clock: Clock): readonly Figure[] {
  return [
    ...syncFigures(() => sync.figures(), clock),
    {
      name: 'sync_zones_connected',
      help: 'Zones with a stream on this replica',
      read: () => [{ value: sync.figures().size }],
    },
  ];
}
