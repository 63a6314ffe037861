import { configure, sharedSettings, type Configured } from '@causeway/control-plane';
import { count, duration, list, oneOf, optional, port, text, type SettingValues } from '@causeway/runtime';

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
  CAUSEWAY_ABSENCE_HOLD: duration('5m'),
  CAUSEWAY_EXPORT_DEFAULT: oneOf(['All', 'None'], 'All'),
  CAUSEWAY_LOST_ZONE_POLICY: oneOf(['keep', 'depreferred', 'withdraw'], 'keep'),
  CAUSEWAY_LOST_ZONE_AFTER: duration('5m'),
} as const;

/** The values of a global's settings. */
export type GlobalSettings = SettingValues<typeof globalSettings>;

/** Reads them; ends the program with one line a problem when they are not in order. */
export function globalConfig(): Configured<typeof globalSettings> {
  return configure(globalSettings, process.env);
}
