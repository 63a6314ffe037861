import { configure, sharedSettings, type Configured } from '@causeway/control-plane';
import { duration, oneOf, optional, port, text } from '@causeway/runtime';

/** The settings of a global control plane (design.md §6). */
export const globalSettings = {
  ...sharedSettings,
  CAUSEWAY_KDS_PORT: port(5685),
  CAUSEWAY_KDS_BIND_ADDRESS: optional(text()),
  CAUSEWAY_KDS_TLS: oneOf(['on', 'off'], 'off'),
  CAUSEWAY_KDS_AUTH: oneOf(['token', 'none'], 'none'),
  CAUSEWAY_ABSENCE_HOLD: duration('5m'),
} as const;

/** Reads them; ends the program with one line a problem when they are not in order. */
export function globalConfig(): Configured<typeof globalSettings> {
  return configure(globalSettings, process.env);
}
