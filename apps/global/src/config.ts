import { configure, sharedHelp, sharedSettings, type Configured, type ProgramStart } from '@causeway/control-plane';
import { duration, list, oneOf, optional, port, text, type SettingValues } from '@causeway/runtime';

/** The settings of a global control plane (design.md §6). */
export const globalSettings = {
  ...sharedSettings,
  CAUSEWAY_KDS_PORT: port(5685),
  CAUSEWAY_KDS_BIND_ADDRESS: optional(text()),
  CAUSEWAY_KDS_TLS: oneOf(['on', 'off'], 'on'),
  CAUSEWAY_KDS_TLS_CERT_FILE: optional(text()),
  CAUSEWAY_KDS_TLS_KEY_FILE: optional(text()),
  CAUSEWAY_KDS_TLS_NAMES: list(),
  CAUSEWAY_KDS_AUTH: oneOf(['token', 'none'], 'token'),
  CAUSEWAY_ABSENCE_HOLD: duration('5m'),
  CAUSEWAY_EXPORT_DEFAULT: oneOf(['All', 'None'], 'All'),
  CAUSEWAY_LOST_ZONE_POLICY: oneOf(['keep', 'depreferred', 'withdraw'], 'keep'),
  CAUSEWAY_LOST_ZONE_AFTER: duration('5m'),
} as const;

/** The values of a global's settings. */
export type GlobalSettings = SettingValues<typeof globalSettings>;

/** A line about each of them, for `--help`. */
export const globalHelp: Readonly<Record<string, string>> = {
  ...sharedHelp,
  CAUSEWAY_KDS_PORT: 'port that zones connect to; 0 takes a free one',
  CAUSEWAY_KDS_BIND_ADDRESS: 'where it listens: 0.0.0.0, or 127.0.0.1 where zones are not authenticated',
  CAUSEWAY_KDS_TLS: 'off is plain text, tokens too',
  CAUSEWAY_KDS_TLS_CERT_FILE: 'a certificate of yours in PEM, in place of one made by the global',
  CAUSEWAY_KDS_TLS_KEY_FILE: 'its key',
  CAUSEWAY_KDS_TLS_NAMES: 'further names and addresses of the certificate, separated by commas',
  CAUSEWAY_KDS_AUTH: 'none lets every zone in without a token',
  CAUSEWAY_ABSENCE_HOLD: 'how long what a new life of a zone lacks is kept',
  CAUSEWAY_EXPORT_DEFAULT: 'All or None: whether services go to other zones unless they say otherwise',
  CAUSEWAY_LOST_ZONE_POLICY: 'keep, depreferred or withdraw: what becomes of the services of a lost zone',
  CAUSEWAY_LOST_ZONE_AFTER: 'how long a zone is away before it is lost',
};

/** Names that zones and the quickstart read. */
const ELSEWHERE = /^CAUSEWAY_(VIP|DNS|SERVICE|ZONE|GLOBAL|EAST|WEST|TEST|POSTGRES|DATA)_/;

/** Reads them; ends the program with one line a problem when they are not in order. */
export function globalConfig(start: ProgramStart = ownStart()): Configured<typeof globalSettings> {
  const description = 'The global control plane of Causeway: zones join it and learn from it what the others offer.';
  return configure({ description, settings: globalSettings, help: globalHelp, elsewhere: ELSEWHERE }, start);
}

function ownStart(): ProgramStart {
  return { env: process.env, args: process.argv.slice(2) };
}
