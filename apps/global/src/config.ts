import { configure, sharedSettings, type Configured } from '@causeway/control-plane';
import { count, duration, list, oneOf, optional, port, text, type SettingValues } from '@causeway/runtime';
import type { IntakeSettings } from '@causeway/sync-kds';

/** The settings of a global control plane (design.md §6). */
export const globalSettings = {
  ...sharedSettings,
  CAUSEWAY_KDS_PORT: port(5685),
  CAUSEWAY_KDS_BIND_ADDRESS: optional(text()),
  CAUSEWAY_KDS_TLS: oneOf(['on', 'off'], 'on'),
  CAUSEWAY_KDS_TLS_CERT_FILE: optional(text()),
  CAUSEWAY_KDS_TLS_KEY_FILE: optional(text()),
  CAUSEWAY_KDS_TLS_NAMES: list(),
  CAUSEWAY_KDS_MAX_CONNECTIONS: count(2_000, 1),
  CAUSEWAY_KDS_MAX_CONNECTIONS_PER_ADDRESS: count(1_000, 1),
  CAUSEWAY_KDS_AUTH: oneOf(['token', 'none'], 'token'),
  /** Bytes of zones' messages that may wait in this process, and of one stream of them. */
  CAUSEWAY_KDS_INTAKE_BYTES: count(64 * 1024 * 1024, 1024 * 1024),
  CAUSEWAY_KDS_STREAM_BYTES: count(4 * 1024 * 1024, 256 * 1024),
  /** What one zone may send for long, a second; ten times the resources and five times the bytes at once. */
  CAUSEWAY_KDS_ZONE_CHANGES_PER_SECOND: count(5_000, 1),
  CAUSEWAY_KDS_ZONE_BYTES_PER_SECOND: count(20 * 1024 * 1024, 64 * 1024),
  CAUSEWAY_ABSENCE_HOLD: duration('5m'),
  CAUSEWAY_EXPORT_DEFAULT: oneOf(['All', 'None'], 'All'),
  CAUSEWAY_LOST_ZONE_POLICY: oneOf(['keep', 'depreferred', 'withdraw'], 'keep'),
  CAUSEWAY_LOST_ZONE_AFTER: duration('5m'),
} as const;

/** The values of a global's settings. */
export type GlobalSettings = SettingValues<typeof globalSettings>;

/** What zones may cost this replica, from the settings. */
export function intakeSettings(settings: GlobalSettings): IntakeSettings {
  const changes = settings.CAUSEWAY_KDS_ZONE_CHANGES_PER_SECOND;
  const bytes = settings.CAUSEWAY_KDS_ZONE_BYTES_PER_SECOND;
  return {
    bounds: { process: settings.CAUSEWAY_KDS_INTAKE_BYTES, stream: settings.CAUSEWAY_KDS_STREAM_BYTES },
    rates: {
      changes: { perSecond: changes, burst: 10 * changes },
      bytes: { perSecond: bytes, burst: 5 * bytes },
    },
  };
}

/** Reads them; ends the program with one line a problem when they are not in order. */
export function globalConfig(): Configured<typeof globalSettings> {
  return configure(globalSettings, process.env);
}
