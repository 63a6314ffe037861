import {
  loadConfig,
  removedSettings,
  sharedHelp,
  sharedSettings,
  type LoadedConfig,
  type ProgramStart,
} from '@causeway/control-plane';
import {
  count,
  duration,
  list,
  oneOf,
  optional,
  port,
  reloaded,
  secret,
  text,
  type SettingValues,
} from '@causeway/runtime';

/** The settings of a global control plane (docs/design.md §6). */
export const globalSettings = {
  ...sharedSettings,
  CAUSEWAY_KDS_PORT: port(5685),
  CAUSEWAY_KDS_BIND_ADDRESS: optional(text()),
  CAUSEWAY_KDS_TLS: oneOf(['on', 'off'], 'on'),
  CAUSEWAY_KDS_TLS_CERT_FILE: reloaded(optional(text()), 'content'),
  CAUSEWAY_KDS_TLS_KEY_FILE: reloaded(optional(text()), 'content'),
  CAUSEWAY_KDS_TLS_NAMES: list(),
  CAUSEWAY_KDS_MAX_CONNECTIONS: count(2_000, 1),
  CAUSEWAY_KDS_MAX_CONNECTIONS_PER_ADDRESS: count(1_000, 1),
  CAUSEWAY_KDS_AUTH: oneOf(['token', 'none'], 'token'),
  /** Maximum size of unprocessed messages of zones, bytes: in this process, and per stream. */
  CAUSEWAY_KDS_INBOUND_BYTES: count(64 * 1024 * 1024, 1024 * 1024),
  CAUSEWAY_KDS_STREAM_BYTES: count(4 * 1024 * 1024, 256 * 1024),
  /** Rate that one zone may send per second on average; bursts of ten times the resources and five times the bytes. */
  CAUSEWAY_KDS_ZONE_CHANGES_PER_SECOND: count(5_000, 1),
  CAUSEWAY_KDS_ZONE_BYTES_PER_SECOND: count(20 * 1024 * 1024, 64 * 1024),
  CAUSEWAY_ABSENCE_HOLD: duration('5m'),
  CAUSEWAY_SECRETS_KEY: optional(secret(text())),
  CAUSEWAY_EXPORT_DEFAULT: oneOf(['All', 'None'], 'All'),
  CAUSEWAY_LOST_ZONE_POLICY: oneOf(['keep', 'depreferred', 'withdraw'], 'keep'),
  CAUSEWAY_LOST_ZONE_AFTER: duration('5m'),
} as const;

/** The values of a global's settings. */
export type GlobalSettings = SettingValues<typeof globalSettings>;

/** Description of each setting, one line, for `--help`. */
export const globalHelp: Readonly<Record<string, string>> = {
  ...sharedHelp,
  CAUSEWAY_KDS_PORT: 'port that zones connect to; 0 takes a free one',
  CAUSEWAY_KDS_BIND_ADDRESS: 'where it listens: 0.0.0.0, or 127.0.0.1 where zones are not authenticated',
  CAUSEWAY_KDS_TLS: 'off is plain text, tokens too',
  CAUSEWAY_KDS_TLS_CERT_FILE: 'a certificate of yours in PEM, in place of one made by the global',
  CAUSEWAY_KDS_TLS_KEY_FILE: 'its key',
  CAUSEWAY_KDS_TLS_NAMES: 'further names and addresses of the certificate, separated by commas',
  CAUSEWAY_KDS_MAX_CONNECTIONS: 'most connections of zones',
  CAUSEWAY_KDS_MAX_CONNECTIONS_PER_ADDRESS: 'most of one address',
  CAUSEWAY_KDS_INBOUND_BYTES: 'most bytes of messages that wait to be taken in, of all zones together',
  CAUSEWAY_KDS_STREAM_BYTES: 'most of one stream beyond one message',
  CAUSEWAY_KDS_ZONE_CHANGES_PER_SECOND: 'changes a second that a zone may go on sending; ten times as many at once',
  CAUSEWAY_KDS_ZONE_BYTES_PER_SECOND: 'bytes a second that a zone may go on sending; five times as many at once',
  CAUSEWAY_KDS_AUTH: 'none lets every zone in without a token',
  CAUSEWAY_SECRETS_KEY:
    'keys that seal secrets in the database, id:base64 of 32 bytes, separated by commas: the first seals, all open; Mesh.mtls needs one',
  CAUSEWAY_ABSENCE_HOLD: 'how long resources that a new incarnation of a zone lacks are kept',
  CAUSEWAY_EXPORT_DEFAULT: 'All or None: whether services go to other zones unless they say otherwise',
  CAUSEWAY_LOST_ZONE_POLICY: 'keep, depreferred or withdraw: what becomes of the services of a lost zone',
  CAUSEWAY_LOST_ZONE_AFTER: 'how long a zone is away before it is lost',
};

/** Description of the program and its settings, for `--help`, the reference, and the schema of its file. */
export const globalProgram = {
  description: 'The global control plane of Causeway: zones join it and learn from it what the others offer.',
  settings: globalSettings,
  help: globalHelp,
};

/** Names that zones and the quickstart use. */
const OTHER_PROGRAMS = /^CAUSEWAY_(VIP|DNS|XDS|SERVICE|ZONE|WORKLOAD|GLOBAL|EAST|WEST|TEST|POSTGRES|DATA)_/;

/** Former names of settings. */
const RENAMED = { CAUSEWAY_KDS_INTAKE_BYTES: 'CAUSEWAY_KDS_INBOUND_BYTES' };

/** Reads the settings; if they are invalid, ends the program with one line per problem. */
export function globalConfig(start: ProgramStart = ownStart()): LoadedConfig<typeof globalSettings> {
  const names = { renamed: RENAMED, removed: removedSettings, elsewhere: OTHER_PROGRAMS };
  return loadConfig({ ...globalProgram, ...names }, start);
}

function ownStart(): ProgramStart {
  return { env: process.env, args: process.argv.slice(2) };
}
