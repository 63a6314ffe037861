import { zoneTokenFacts } from '@causeway/access';
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
  flag,
  list,
  oneOf,
  optional,
  port,
  reloaded,
  secret,
  text,
  type SettingValues,
} from '@causeway/runtime';

/** Returns why a text is not a zone token. */
export function zoneTokenFault(given: string): string | undefined {
  return zoneTokenFacts(given) ? undefined : 'must be a zone token: a JWT with the claim "Zone"';
}

/** The settings of a zone's control plane (docs/design.md §6). */
export const zoneSettings = {
  ...sharedSettings,
  CAUSEWAY_ZONE_NAME: text(),
  CAUSEWAY_GLOBAL_ADDRESS: optional(text()),
  CAUSEWAY_GLOBAL_CA_FILE: optional(text()),
  CAUSEWAY_GLOBAL_TLS_SKIP_VERIFY: flag(false),
  CAUSEWAY_ZONE_TOKEN: reloaded(optional(secret(text(undefined, zoneTokenFault)))),
  CAUSEWAY_ZONE_TOKEN_FILE: reloaded(optional(text()), 'content'),
  CAUSEWAY_VIP_RANGE_MESHSERVICE: text('241.0.0.0/8'),
  CAUSEWAY_VIP_RANGE_MESHEXTERNALSERVICE: text('242.0.0.0/8'),
  CAUSEWAY_VIP_RANGE_MESHMULTIZONESERVICE: text('243.0.0.0/8'),
  CAUSEWAY_VIP_RANGE_FORCE: flag(false),
  CAUSEWAY_VIP_COOLDOWN: duration('60s'),
  CAUSEWAY_SERVICE_GRACE: duration('1h'),
  CAUSEWAY_ABSENCE_HOLD: duration('5m'),
  CAUSEWAY_SECRETS_KEY: optional(secret(text())),
  CAUSEWAY_WORKLOAD_CERT_VALIDITY: duration('24h', ['10s', '8760h']),
  CAUSEWAY_CLOCK_SKEW: duration('10m', ['1s', '24h']),
  CAUSEWAY_XDS_PORT: port(5678),
  CAUSEWAY_XDS_BIND_ADDRESS: optional(text()),
  CAUSEWAY_XDS_TLS: optional(oneOf(['on', 'off'])),
  CAUSEWAY_XDS_TLS_CERT_FILE: reloaded(optional(text()), 'content'),
  CAUSEWAY_XDS_TLS_KEY_FILE: reloaded(optional(text()), 'content'),
  CAUSEWAY_XDS_SCOPE: oneOf(['used', 'all'], 'used'),
  CAUSEWAY_XDS_CONNECTIONS: count(6_000, 1),
  CAUSEWAY_XDS_CONNECTIONS_PER_CLIENT: count(3_000, 1),
  CAUSEWAY_XDS_STREAMS: count(5_000, 1),
  CAUSEWAY_XDS_NAMES: count(2_000_000, 1),
  CAUSEWAY_XDS_UNACKED_MIB: count(256, 1),
  CAUSEWAY_EXTERNAL_MAY_DIAL: list('default'),
  CAUSEWAY_XDS_ABANDONED_AFTER: duration('15m', ['10s', '8760h']),
  CAUSEWAY_AGENT_LEASE: duration('10s', ['1s', '1h']),
  CAUSEWAY_LEASE_HOLD: count(30),
  CAUSEWAY_DNS_PORT: port(5653),
  CAUSEWAY_DNS_BIND_ADDRESS: list(),
  CAUSEWAY_DNS_TTL: duration('5s'),
  CAUSEWAY_DNS_SUFFIXES: list('mesh.local'),
  CAUSEWAY_DNS_DIRECT_SUFFIX: optional(text()),
  CAUSEWAY_DNS_MESH_ORDER: list(),
  CAUSEWAY_DNS_FORWARD: oneOf(['on', 'off'], 'on'),
  CAUSEWAY_DNS_FORWARD_PUBLIC: flag(false),
  CAUSEWAY_DNS_UPSTREAMS: list(),
  CAUSEWAY_DNS_FORWARD_PENDING: count(500, 1),
  CAUSEWAY_DNS_FORWARD_PENDING_PER_CLIENT: count(100, 1),
  CAUSEWAY_DNS_RATE: count(50_000),
  CAUSEWAY_DNS_TCP_CONNECTIONS: count(1_000, 1),
  CAUSEWAY_DNS_TCP_CONNECTIONS_PER_CLIENT: count(100, 1),
  CAUSEWAY_DNS_TCP_IDLE: duration('10s'),
} as const;

/** One line about each setting, for `--help`. */
export const zoneHelp: Readonly<Record<string, string>> = {
  ...sharedHelp,
  CAUSEWAY_ZONE_NAME: 'name of the zone; fixed at its first start',
  CAUSEWAY_GLOBAL_ADDRESS:
    'grpcs://host:port or grpc://host:port of the global, of each of its replicas with commas between; none = a zone by itself',
  CAUSEWAY_GLOBAL_CA_FILE: 'certificate in PEM that the global is verified by',
  CAUSEWAY_GLOBAL_TLS_SKIP_VERIFY: 'true takes whoever answers for the global',
  CAUSEWAY_ZONE_TOKEN: 'token by which the zone joins; with a new one its session with the global begins anew',
  CAUSEWAY_ZONE_TOKEN_FILE: 'a file with it',
  CAUSEWAY_VIP_RANGE_MESHSERVICE: 'virtual IPs of MeshServices',
  CAUSEWAY_VIP_RANGE_MESHEXTERNALSERVICE: 'virtual IPs of MeshExternalServices',
  CAUSEWAY_VIP_RANGE_MESHMULTIZONESERVICE: 'virtual IPs of MeshMultiZoneServices',
  CAUSEWAY_VIP_RANGE_FORCE: 'true takes a range that looks wrong',
  CAUSEWAY_VIP_COOLDOWN: 'how long a freed address goes to no other service; at least twice CAUSEWAY_DNS_TTL',
  CAUSEWAY_SERVICE_GRACE: 'how long a service without instances keeps its address and names',
  CAUSEWAY_ABSENCE_HOLD: 'how long resources that a new incarnation of the global lacks are kept',
  CAUSEWAY_SECRETS_KEY:
    'keys that seal secrets in the database, id:base64 of 32 bytes, separated by commas: the first seals, all open; required beyond loopback',
  CAUSEWAY_WORKLOAD_CERT_VALIDITY: 'how long certificates of workloads are valid; they are renewed at half of it',
  CAUSEWAY_CLOCK_SKEW:
    'by how much clocks may differ: so long after its last certificate has ended an authority that was replaced is trusted',
  CAUSEWAY_XDS_PORT: 'port that proxies connect to; 0 takes a free one',
  CAUSEWAY_XDS_BIND_ADDRESS: 'where it listens; none = as CAUSEWAY_BIND_ADDRESS',
  CAUSEWAY_XDS_TLS: 'on or off, for proxies; none = on beyond loopback or where a certificate is given',
  CAUSEWAY_XDS_TLS_CERT_FILE: 'a certificate of yours for proxies in PEM, in place of one made by the control plane',
  CAUSEWAY_XDS_TLS_KEY_FILE: 'its key',
  CAUSEWAY_XDS_SCOPE: 'used: proxies get the services that they declare or use; all: all services of their mesh',
  CAUSEWAY_XDS_CONNECTIONS: 'most connections of proxies',
  CAUSEWAY_XDS_CONNECTIONS_PER_CLIENT: 'most of one address',
  CAUSEWAY_XDS_STREAMS: 'most streams of all proxies',
  CAUSEWAY_XDS_NAMES: 'most names that all proxies ask for, beyond the first 500 of each stream',
  CAUSEWAY_XDS_UNACKED_MIB: 'most bytes sent to proxies that they have not acked, MiB; more waits',
  CAUSEWAY_EXTERNAL_MAY_DIAL:
    'addresses of external services, and of host names, that proxies without an agent are sent, separated by commas: 10.0.0.0/8 allows, !10.0.0.5 refuses, the most specific decides; default = all but this host, link-local and metadata addresses',
  CAUSEWAY_XDS_ABANDONED_AFTER:
    'how long a Dataplane that its proxy registered stays while no replica serves the proxy',
  CAUSEWAY_AGENT_LEASE: 'how long a Dataplane stays after the last heartbeat of its agent',
  CAUSEWAY_LEASE_HOLD:
    'percent of all leases: where more end at once, their Dataplanes are kept until causeway leases release; 100 = never',
  CAUSEWAY_DNS_PORT: 'port of DNS, UDP and TCP; 0 takes a free one',
  CAUSEWAY_DNS_BIND_ADDRESS: 'addresses to answer at, separated by commas; none = as CAUSEWAY_BIND_ADDRESS',
  CAUSEWAY_DNS_TTL: 'how long answers may be kept',
  CAUSEWAY_DNS_SUFFIXES: 'suffixes that are ours, separated by commas',
  CAUSEWAY_DNS_DIRECT_SUFFIX:
    'hostnames under it have the addresses of instances, past the proxies; none = there are no such names',
  CAUSEWAY_DNS_MESH_ORDER: 'meshes asked first where several have one hostname',
  CAUSEWAY_DNS_FORWARD: 'off refuses what is not ours',
  CAUSEWAY_DNS_FORWARD_PUBLIC: 'true forwards for public addresses too',
  CAUSEWAY_DNS_UPSTREAMS:
    'servers to forward to, and to resolve names of external services by, separated by commas; none = those of /etc/resolv.conf',
  CAUSEWAY_DNS_FORWARD_PENDING: 'most questions under way to upstreams',
  CAUSEWAY_DNS_FORWARD_PENDING_PER_CLIENT: 'most of one address',
  CAUSEWAY_DNS_RATE: 'most questions of one address in a second; 0 = no limit',
  CAUSEWAY_DNS_TCP_CONNECTIONS: 'most TCP connections',
  CAUSEWAY_DNS_TCP_CONNECTIONS_PER_CLIENT: 'most of one address',
  CAUSEWAY_DNS_TCP_IDLE: 'how long a TCP connection may be without a question',
};

/** Description of the program and its settings, for `--help`, the reference, and the schema of its file. */
export const zoneProgram = {
  description: 'The control plane of a Causeway zone: it gives the services of its zone addresses and names.',
  settings: zoneSettings,
  help: zoneHelp,
};

/** Settings of other programs: the global and the quickstart. */
const OTHER_PROGRAMS = /^CAUSEWAY_(KDS|EXPORT|LOST_ZONE|EAST|WEST|TEST|POSTGRES|DATA)_|^CAUSEWAY_GLOBAL_[A-Z]+_PORT$/;

/** Former names of settings. */
const RENAMED = {
  CAUSEWAY_VIP_REST: 'CAUSEWAY_VIP_COOLDOWN',
  CAUSEWAY_DNS_TCP_CONNECTIONS_PER_ASKER: 'CAUSEWAY_DNS_TCP_CONNECTIONS_PER_CLIENT',
  CAUSEWAY_DNS_FORWARD_PENDING_PER_ASKER: 'CAUSEWAY_DNS_FORWARD_PENDING_PER_CLIENT',
};

/** Reads the settings; ends the program with one line for each problem. */
export function zoneConfig(start: ProgramStart = ownStart()): LoadedConfig<typeof zoneSettings> {
  const names = { renamed: RENAMED, removed: removedSettings, elsewhere: OTHER_PROGRAMS };
  return loadConfig({ ...zoneProgram, ...names }, start);
}

function ownStart(): ProgramStart {
  return { env: process.env, args: process.argv.slice(2) };
}

/** The values of a zone's settings. */
export type ZoneSettings = SettingValues<typeof zoneSettings>;
