import {
  ACCESS_POLICY,
  certificateSource,
  INDEX,
  MESHES,
  streamRates,
  VERSION,
  type CertificateSource,
  type ControlPlaneCore,
} from '@causeway/control-plane';
import type { InboundSettings, KdsGlobalOptions } from '@causeway/kds';
import type { KumaOptions } from '@causeway/kuma';
import { injectFrom, type Injection } from '@causeway/runtime';
import { POSTGRES_BACKEND } from '@causeway/store-postgres';
import type { GlobalSettings } from './config';
import { ZoneSecurity } from './zone-security.module';

const SOURCES = {
  backend: POSTGRES_BACKEND,
  index: INDEX,
  security: ZoneSecurity,
  rights: ACCESS_POLICY,
  meshes: MESHES,
};

/** Returns the KDS server's options from the settings. */
export function kdsOptions(core: ControlPlaneCore<GlobalSettings>, kuma: KumaOptions): Injection<KdsGlobalOptions> {
  const { settings } = core;
  return injectFrom(SOURCES, ({ backend, index, security, rights, meshes }) => ({
    sync: {
      ...core,
      store: backend.store,
      sessions: backend.sessions,
      maintenance: backend.store,
      index,
      meshes,
      version: VERSION,
      auth: security.authenticator,
      rights,
      kuma,
      exportDefault: settings.CAUSEWAY_EXPORT_DEFAULT,
      hold: settings.CAUSEWAY_ABSENCE_HOLD,
      inbound: inboundLimits(settings),
      connections: {
        all: settings.CAUSEWAY_KDS_MAX_CONNECTIONS,
        address: settings.CAUSEWAY_KDS_MAX_CONNECTIONS_PER_ADDRESS,
        streams: streamRates(settings),
      },
      onPropagated: (kind, age) => core.propagation.observe({ kind }, age / 1_000),
    },
    host: settings.CAUSEWAY_KDS_BIND_ADDRESS ?? (settings.CAUSEWAY_KDS_AUTH === 'token' ? '0.0.0.0' : '127.0.0.1'),
    port: settings.CAUSEWAY_KDS_PORT,
    certificates: () => security.certificates(),
    logFields: { tls: settings.CAUSEWAY_KDS_TLS, auth: settings.CAUSEWAY_KDS_AUTH },
  }));
}

/** Returns the limits on zones' messages at this replica from the settings. */
function inboundLimits(settings: GlobalSettings): InboundSettings {
  const changes = settings.CAUSEWAY_KDS_ZONE_CHANGES_PER_SECOND;
  const bytes = settings.CAUSEWAY_KDS_ZONE_BYTES_PER_SECOND;
  return {
    bounds: { process: settings.CAUSEWAY_KDS_INBOUND_BYTES, stream: settings.CAUSEWAY_KDS_STREAM_BYTES },
    rates: {
      changes: { perSecond: changes, burst: 10 * changes },
      bytes: { perSecond: bytes, burst: 5 * bytes },
    },
  };
}

/**
 * Returns the source of the certificate for zones; ends the program with one line if settings contradict each other.
 */
export function kdsCertificateSource(settings: GlobalSettings): CertificateSource {
  return certificateSource({
    prefix: 'CAUSEWAY_KDS_TLS',
    tls: settings.CAUSEWAY_KDS_TLS,
    certificateFile: settings.CAUSEWAY_KDS_TLS_CERT_FILE,
    keyFile: settings.CAUSEWAY_KDS_TLS_KEY_FILE,
    names: settings.CAUSEWAY_KDS_TLS_NAMES,
    bindAddress: settings.CAUSEWAY_KDS_BIND_ADDRESS,
  });
}
