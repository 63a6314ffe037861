import { configure, sharedSettings, type Configured } from '@causeway/control-plane';
import { duration, flag, optional, port, secret, text } from '@causeway/runtime';

/** The settings of a zone's control plane (design.md §6). */
export const zoneSettings = {
  ...sharedSettings,
  CAUSEWAY_ZONE_NAME: text(),
  CAUSEWAY_GLOBAL_ADDRESS: optional(text()),
  CAUSEWAY_GLOBAL_CA_FILE: optional(text()),
  CAUSEWAY_GLOBAL_TLS_SKIP_VERIFY: flag(false),
  CAUSEWAY_ZONE_TOKEN: optional(secret(text())),
  CAUSEWAY_ZONE_TOKEN_FILE: optional(text()),
  CAUSEWAY_VIP_RANGE_MESHSERVICE: text('241.0.0.0/8'),
  CAUSEWAY_VIP_RANGE_MESHEXTERNALSERVICE: text('242.0.0.0/8'),
  CAUSEWAY_VIP_RANGE_MESHMULTIZONESERVICE: text('243.0.0.0/8'),
  CAUSEWAY_VIP_REST: duration('60s'),
  CAUSEWAY_SERVICE_GRACE: duration('1h'),
  CAUSEWAY_ABSENCE_HOLD: duration('5m'),
  CAUSEWAY_DNS_PORT: port(5653),
  CAUSEWAY_DNS_TTL: duration('5s'),
} as const;

/** Reads them; ends the program with one line a problem when they are not in order. */
export function zoneConfig(): Configured<typeof zoneSettings> {
  return configure(zoneSettings, process.env);
}
