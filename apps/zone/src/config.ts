import { configure, sharedSettings, type Configured } from '@causeway/control-plane';
import {
  count,
  duration,
  flag,
  list,
  oneOf,
  optional,
  port,
  secret,
  text,
  type SettingValues,
} from '@causeway/runtime';

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
  CAUSEWAY_VIP_RANGE_FORCE: flag(false),
  CAUSEWAY_VIP_REST: duration('60s'),
  CAUSEWAY_SERVICE_GRACE: duration('1h'),
  CAUSEWAY_ABSENCE_HOLD: duration('5m'),
  CAUSEWAY_DNS_PORT: port(5653),
  CAUSEWAY_DNS_BIND_ADDRESS: list('127.0.0.1'),
  CAUSEWAY_DNS_TTL: duration('5s'),
  CAUSEWAY_DNS_SUFFIXES: list('mesh.local'),
  CAUSEWAY_DNS_MESH_ORDER: list(),
  CAUSEWAY_DNS_FORWARD: oneOf(['on', 'off'], 'on'),
  CAUSEWAY_DNS_FORWARD_PUBLIC: flag(false),
  CAUSEWAY_DNS_UPSTREAMS: list(),
  CAUSEWAY_DNS_FORWARD_PENDING: count(500, 1),
  CAUSEWAY_DNS_FORWARD_PENDING_PER_ASKER: count(100, 1),
  CAUSEWAY_DNS_RATE: count(50_000),
  CAUSEWAY_DNS_TCP_CONNECTIONS: count(1_000, 1),
  CAUSEWAY_DNS_TCP_CONNECTIONS_PER_ASKER: count(100, 1),
  CAUSEWAY_DNS_TCP_IDLE: duration('10s'),
} as const;

/** Reads them; ends the program with one line a problem when they are not in order. */
export function zoneConfig(): Configured<typeof zoneSettings> {
  return configure(zoneSettings, process.env);
}

/** The values of a zone's settings. */
export type ZoneSettings = SettingValues<typeof zoneSettings>;
