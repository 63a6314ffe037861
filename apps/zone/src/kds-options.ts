import { VERSION, type ControlPlaneCore, type StoreBinding } from '@causeway/control-plane';
import type { SealingKeys } from '@causeway/identity';
import type { KdsZoneOptions } from '@causeway/kds';
import type { IndexReader } from '@causeway/store';
import type { PostgresBackend } from '@causeway/store-postgres';
import type { ZoneSettings } from './config';
import type { GlobalAddress } from './global-address';

type ZoneKdsSources = [backend: PostgresBackend, index: IndexReader, binding: StoreBinding, sealing: SealingKeys];

/** How the zone speaks with its global, from its settings; nothing to speak with where `global` is undefined. */
export function kdsOptions(
  core: ControlPlaneCore<ZoneSettings>,
  global: GlobalAddress | undefined,
): (...sources: ZoneKdsSources) => KdsZoneOptions {
  const { settings, clock, logger } = core;
  return ({ store }, index, binding, sealing) => ({
    firstState: { store, index, clock, logger, federated: global !== undefined },
    sync: () =>
      global && {
        ...core,
        ...global,
        zone: settings.CAUSEWAY_ZONE_NAME,
        storeId: binding.storeId,
        store,
        index,
        version: VERSION,
        hold: settings.CAUSEWAY_ABSENCE_HOLD,
        maintenance: store,
        sealing,
        onPropagated: (kind, age) => core.propagation.observe({ kind }, age / 1_000),
      },
  });
}
