import { retryWhileUnavailable, exitOnError, type ControlPlaneCore } from '@causeway/control-plane';
import { createZoneTokenService } from '@causeway/access';
import type { Insights, ZoneAccess } from '@causeway/queries';
import { noAuthentication, tlsServerCredentials, type ZoneAuthenticator, type GlobalSync } from '@causeway/kds';
import { openCertificates, type CertificateSource } from './certificates';
import type { GlobalSettings } from './config';

/** Who is let in as a zone and how the global proves itself to zones (design.md §5 Zone tokens, §6 Where they listen). */
export interface ZoneSecurity {
  readonly auth: ZoneAuthenticator;
  readonly zoneAccess: ZoneAccess;
  readonly deletionWarnings: NonNullable<Insights['deletionWarnings']>;
  /** Opens the door for zones and resolves with where it is. */
  bind(sync: GlobalSync): Promise<string>;
  /** What of the stored keys and certificates cannot be used; it stops no start. */
  warnings(): readonly string[];
  close(): void;
}

/** What security is made of. */
export interface SecurityConfig {
  readonly settings: GlobalSettings;
  readonly certificates: CertificateSource;
}

/** Makes the first signing key and the first certificate where there are none, and says loudly what is left open. */
export async function secureZones(foundations: ControlPlaneCore, config: SecurityConfig): Promise<ZoneSecurity> {
  const { settings } = config;
  warnOfInsecureSettings(foundations, settings);
  const zoneTokens = createZoneTokenService(foundations);
  await exitOnError(retryWhileUnavailable(() => zoneTokens.tokens.ensureKey(), foundations));
  const certificates = await openCertificates(foundations, config.certificates);
  const asksForTokens = settings.CAUSEWAY_KDS_AUTH === 'token';
  const host = settings.CAUSEWAY_KDS_BIND_ADDRESS ?? (asksForTokens ? '0.0.0.0' : '127.0.0.1');
  return {
    auth: asksForTokens ? zoneTokens.auth : noAuthentication,
    zoneAccess: {
      issue: (order) => zoneTokens.tokens.issue(order),
      revoke: (id) => zoneTokens.tokens.revoke(id),
      rotate: () => zoneTokens.tokens.rotate(),
      authority: () => certificates?.authority(),
    },
    deletionWarnings: (id) => (asksForTokens ? zoneTokens.deletionWarnings(id) : []),
    bind: async (sync) => {
      const credentials = certificates && tlsServerCredentials(certificates);
      return `${host}:${await exitOnError(sync.bind(host, settings.CAUSEWAY_KDS_PORT, credentials))}`;
    },
    warnings: () => [...zoneTokens.faults(), ...[certificates?.fault() ?? []].flat()],
    close: () => {
      zoneTokens.close();
      certificates?.close();
    },
  };
}

function warnOfInsecureSettings({ logger }: ControlPlaneCore, settings: GlobalSettings): void {
  const { CAUSEWAY_KDS_AUTH: auth, CAUSEWAY_KDS_TLS: tls } = settings;
  if (auth === 'none') {
    logger.warn('ZONES ARE NOT AUTHENTICATED: whoever reaches this port is the zone that it says it is', {
      setting: 'CAUSEWAY_KDS_AUTH=none',
    });
  }
  if (tls === 'off') {
    logger.warn('what zones send, tokens too, can be read on the way', { setting: 'CAUSEWAY_KDS_TLS=off' });
  }
}
