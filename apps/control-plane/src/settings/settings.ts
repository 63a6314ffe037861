import { isAbsolute } from 'node:path';
import { Mesh } from '@causeway/kinds';
import { redisUrlFault } from '@causeway/leader-redis';
import { DEFAULT_MESH_OWNER } from '@causeway/meshes';
import { FieldPath } from '@causeway/resources';
import { databaseUrlFault } from '@causeway/store-postgres';
import {
  checkedText,
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

const AT = FieldPath.at();

/** Returns why a Mesh cannot have this name, as the kind's own message. */
const meshNameFault = (name: string): string | undefined => Mesh.checkName(name, AT)[0]?.reason;

/** Returns why a Mesh cannot have this `controllerName`, as the kind's own message (rows T000-03, T000-04). */
const controllerNameFault = (controllerName: string): string | undefined =>
  Mesh.check({ controllerName }, AT).first[0]?.reason;

/** Returns why this is not the URL of a receiver of traces. */
function endpointFault(given: string): string | undefined {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isOne = url !== undefined && ['http:', 'https:'].includes(url.protocol) && url.search + url.hash === '';
  return isOne ? undefined : 'must be a URL such as http://127.0.0.1:4318';
}

function ratioFault(given: string): string | undefined {
  return /^(0|1|0?\.\d{1,6}|1\.0{1,6})$/.test(given) ? undefined : 'must be a number from 0 to 1';
}

/** Maximum length of the path of a unix socket, in bytes: the size of `sun_path` in Linux. */
const MAX_SOCKET_PATH = 107;

/** Returns why this is not the path of a unix socket. */
function socketPathFault(given: string): string | undefined {
  if (given === 'off') return undefined;
  const length = Buffer.byteLength(given);
  if (!isAbsolute(given)) return 'must be an absolute path such as /run/causeway/admin.sock, or off';
  return length > MAX_SOCKET_PATH ? `must be a path of ${MAX_SOCKET_PATH} bytes at most, has ${length}` : undefined;
}

/** Removed settings, with what users do instead. */
export const removedSettings: Readonly<Record<string, string>> = {
  CAUSEWAY_LOCALHOST_IS_ADMIN:
    'a connection from this machine proves nothing; take it out, and administer by a unix socket (CAUSEWAY_ADMIN_SOCKET, causeway --server unix:PATH) or with a token (docs/guides/access.md)',
};

/** Settings of every control plane (docs/design.md §6), by environment variable. */
export const sharedSettings = {
  DATABASE_URL: secret(text(undefined, databaseUrlFault)),
  REDIS_URL: optional(secret(text(undefined, redisUrlFault))),
  LOG_LEVEL: reloaded(oneOf(['debug', 'info', 'warn', 'error'], 'info')),
  CAUSEWAY_ACCESS_LOG: oneOf(['on', 'off'], 'off'),
  CAUSEWAY_OTLP_ENDPOINT: optional(checkedText(endpointFault)),
  CAUSEWAY_TRACE_RATIO: checkedText(ratioFault, '1'),
  CAUSEWAY_CONFIG: optional(text()),
  CAUSEWAY_BIND_ADDRESS: text('127.0.0.1'),
  CAUSEWAY_MESH_NAME: checkedText(meshNameFault, DEFAULT_MESH_OWNER.expectedName),
  CAUSEWAY_MESH_CONTROLLER_NAME: checkedText(controllerNameFault, DEFAULT_MESH_OWNER.controllerName),
  CAUSEWAY_REST_PORT: port(5681),
  CAUSEWAY_REST_TLS: optional(oneOf(['on', 'off'])),
  CAUSEWAY_REST_TLS_CERT_FILE: reloaded(optional(text()), 'content'),
  CAUSEWAY_REST_TLS_KEY_FILE: reloaded(optional(text()), 'content'),
  CAUSEWAY_REST_TLS_NAMES: list(),
  CAUSEWAY_GRPC_PORT: port(5682),
  CAUSEWAY_GRPC_TLS: optional(oneOf(['on', 'off'])),
  CAUSEWAY_GRPC_TLS_CERT_FILE: reloaded(optional(text()), 'content'),
  CAUSEWAY_GRPC_TLS_KEY_FILE: reloaded(optional(text()), 'content'),
  CAUSEWAY_GRPC_CONNECTIONS: count(2_000, 1),
  CAUSEWAY_GRPC_CONNECTIONS_PER_CLIENT: count(1_000, 1),
  CAUSEWAY_DIAGNOSTICS_PORT: port(5680),
  CAUSEWAY_REST_CONNECTIONS: count(10_000, 1),
  CAUSEWAY_REST_CONNECTIONS_PER_CLIENT: count(2_000, 1),
  CAUSEWAY_WATCH_MEMORY_MIB: count(128, 1),
  CAUSEWAY_OPERATOR_TOKEN: reloaded(optional(secret(text()))),
  CAUSEWAY_ADMIN_SOCKET: optional(checkedText(socketPathFault)),
  CAUSEWAY_USER_RATE: count(2_000),
  CAUSEWAY_ANONYMOUS_RATE: count(200),
  CAUSEWAY_STREAM_RATE: count(2_000),
  CAUSEWAY_ANONYMOUS_STREAM_RATE: count(500),
  CAUSEWAY_AUDIT_RETENTION: duration('720h'),
  CAUSEWAY_AUDIT_ENTRIES: count(1_000_000, 1),
  CAUSEWAY_ADMIN_TOKEN_FILE: optional(text()),
  CAUSEWAY_LEADER_BACKEND: optional(oneOf(['redis', 'postgres'])),
  CAUSEWAY_LEADER_LEASE: duration('3s'),
  CAUSEWAY_LEADER_STALL: duration('15s'),
  CAUSEWAY_DATABASE_TOLERATE_NEWER: flag(false),
} as const;

/** Returns the rates at which peers may open streams at each gRPC port. */
export function streamRates(settings: SharedSettings): { readonly connection: number; readonly address: number } {
  return { connection: settings.CAUSEWAY_STREAM_RATE, address: settings.CAUSEWAY_ANONYMOUS_STREAM_RATE };
}

/** Values of the shared settings. */
export type SharedSettings = SettingValues<typeof sharedSettings>;

/** Description of each setting in one line, for `--help`. */
export const sharedHelp: Readonly<Record<string, string>> = {
  DATABASE_URL:
    'its Postgres database: postgres://user:password@host:port/database; of a primary and its standbys host:port,host:port/database; over TLS ?sslmode=verify-full&sslrootcert=FILE',
  REDIS_URL:
    'the Redis of the leader lock, also redis+sentinel://host:port,…/SERVICE and redis+cluster://host:port,…; without it a lease in Postgres serves',
  LOG_LEVEL: 'debug, info, warn or error',
  CAUSEWAY_ACCESS_LOG: 'on: a line of the log for each request that REST or the gRPC API answered',
  CAUSEWAY_OTLP_ENDPOINT: 'where traces are sent by OTLP over HTTP, without /v1/traces; none = nothing is traced',
  CAUSEWAY_TRACE_RATIO: 'share of the requests that is traced, 0 to 1; a caller that traces its request decides itself',
  CAUSEWAY_CONFIG: 'a YAML file with settings; the environment wins over it',
  CAUSEWAY_BIND_ADDRESS: 'where REST and diagnostics listen',
  CAUSEWAY_MESH_NAME:
    'the Mesh that is made at the start, and the mesh of documents that name none; the same everywhere',
  CAUSEWAY_MESH_CONTROLLER_NAME: 'Meshes with another controllerName are left alone; the same everywhere',
  CAUSEWAY_REST_PORT: 'port of REST; 0 takes a free one',
  CAUSEWAY_REST_TLS: 'on or off; none = on where REST listens beyond loopback or a certificate is given',
  CAUSEWAY_REST_TLS_CERT_FILE: 'a certificate of yours for REST in PEM, in place of one made by the control plane',
  CAUSEWAY_REST_TLS_KEY_FILE: 'its key',
  CAUSEWAY_REST_TLS_NAMES: 'further names and addresses of the certificates of REST and gRPC, separated by commas',
  CAUSEWAY_GRPC_PORT: 'port of the gRPC API; 0 takes a free one',
  CAUSEWAY_GRPC_TLS: 'on or off, for the gRPC API; none = on beyond loopback or where a certificate is given',
  CAUSEWAY_GRPC_TLS_CERT_FILE: 'a certificate of yours for gRPC in PEM, in place of one made by the control plane',
  CAUSEWAY_GRPC_TLS_KEY_FILE: 'its key',
  CAUSEWAY_GRPC_CONNECTIONS: 'most connections of clients of the gRPC API',
  CAUSEWAY_GRPC_CONNECTIONS_PER_CLIENT: 'most of one address',
  CAUSEWAY_DIAGNOSTICS_PORT: 'port of /healthy, /ready and /metrics; 0 takes a free one',
  CAUSEWAY_REST_CONNECTIONS: 'most connections of clients of REST',
  CAUSEWAY_REST_CONNECTIONS_PER_CLIENT: 'most of one address',
  CAUSEWAY_WATCH_MEMORY_MIB: 'most memory for what watches have not read yet, MiB; the slowest end first',
  CAUSEWAY_OPERATOR_TOKEN: 'bearer token of an administrator',
  CAUSEWAY_ADMIN_SOCKET:
    'path of a unix socket of REST in a folder of its own, whose every client is an administrator; none or off = there is none',
  CAUSEWAY_USER_RATE: 'most requests of one user in a second, twice as many at once; 0 = no limit',
  CAUSEWAY_ANONYMOUS_RATE: 'most of one address without valid credentials; 0 = no limit',
  CAUSEWAY_STREAM_RATE:
    'most streams (calls of gRPC, xDS, KDS) that one connection begins in a second, twice as many at once; a tenth until it has shown a valid certificate or token; 0 = no limit',
  CAUSEWAY_ANONYMOUS_STREAM_RATE:
    'most that all connections of one address begin that have shown none, twice as many at once; 0 = no limit',
  CAUSEWAY_AUDIT_RETENTION: 'how long entries of the audit log are kept',
  CAUSEWAY_AUDIT_ENTRIES: 'most entries of the audit log; refusals take a fifth of them at most',
  CAUSEWAY_ADMIN_TOKEN_FILE:
    'where the first start writes a token of an administrator; none = ~/.local/state/causeway/<control plane>/admin.token, off = nowhere',
  CAUSEWAY_LEADER_BACKEND: 'redis or postgres: what decides who leads; redis where REDIS_URL is set',
  CAUSEWAY_LEADER_LEASE: 'how long a leader that died is still the leader',
  CAUSEWAY_LEADER_STALL: 'how long the event loop of a leader may stand still before its lease is given up',
  CAUSEWAY_DATABASE_TOLERATE_NEWER: 'true runs on a database that a newer version has migrated',
};
