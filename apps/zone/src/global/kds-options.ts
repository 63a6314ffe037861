import { INDEX, StoreBinding, VERSION, type ControlPlaneCore } from '@causeway/control-plane';
import { ProxyDirectory } from '@causeway/controllers';
import type { InsightSource, KdsZoneOptions } from '@causeway/kds';
import { dataplaneInsight } from '@causeway/queries';
import { identityKey } from '@causeway/resources';
import { injectFrom, type Injection } from '@causeway/runtime';
import { POSTGRES_BACKEND } from '@causeway/store-postgres';
import type { ZoneSettings } from '../config';
import type { GlobalAddress } from './global-address';
import { SEALING_KEYS } from '../identity/workload-identity.module';
import { KeptZoneToken } from './kept-zone-token';
import type { ZoneToken } from './zone-token';

/** The global that a zone joins, and the zone's token. */
export interface JoinedGlobal extends GlobalAddress {
  readonly token: ZoneToken;
}

const SOURCES = {
  backend: POSTGRES_BACKEND,
  index: INDEX,
  binding: StoreBinding,
  sealing: SEALING_KEYS,
  proxies: ProxyDirectory,
};

/** Returns the insights of the zone's proxies for the global. */
function proxyInsights(proxies: ProxyDirectory): InsightSource {
  return {
    get isLoaded() {
      return proxies.isLoaded;
    },
    findInsight: ({ id }) => {
      const proxy = proxies.ofOwner(identityKey(id));
      return proxy && dataplaneInsight(proxy);
    },
    subscribe: (listener) => proxies.subscribe(listener),
  };
}

/** Returns the options of the zone's sync with its global, from its settings; undefined if `global` is. */
export function kdsOptions(
  core: ControlPlaneCore<ZoneSettings>,
  global: JoinedGlobal | undefined,
): Injection<KdsZoneOptions> {
  const { settings, clock, logger } = core;
  return injectFrom(SOURCES, ({ backend: { store }, index, binding, sealing, proxies }) => {
    global?.token.useKept(new KeptZoneToken({ store, keys: sealing, zone: settings.CAUSEWAY_ZONE_NAME, logger }));
    return {
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
          insights: proxyInsights(proxies),
          onPropagated: (kind, age) => core.propagation.observe({ kind }, age / 1_000),
        },
    };
  });
}
