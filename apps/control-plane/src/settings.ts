import { count, duration, flag, oneOf, optional, port, secret, text } from '@causeway/runtime';

/** The settings that every control plane has (docs/design.md §6), by the name of their environment variable. */
export const sharedSettings = {
  DATABASE_URL: secret(text()),
  REDIS_URL: optional(secret(text())),
  LOG_LEVEL: oneOf(['debug', 'info', 'warn', 'error'], 'info'),
  CAUSEWAY_CONFIG: optional(text()),
  CAUSEWAY_BIND_ADDRESS: text('127.0.0.1'),
  CAUSEWAY_REST_PORT: port(5681),
  CAUSEWAY_DIAGNOSTICS_PORT: port(5680),
  CAUSEWAY_REST_CONNECTIONS: count(10_000, 1),
  CAUSEWAY_REST_CONNECTIONS_PER_CLIENT: count(2_000, 1),
  CAUSEWAY_WATCH_MEMORY_MIB: count(128, 1),
  CAUSEWAY_OPERATOR_TOKEN: optional(secret(text())),
  CAUSEWAY_AUDIT_RETENTION: duration('720h'),
  CAUSEWAY_AUDIT_ENTRIES: count(1_000_000, 1),
  CAUSEWAY_ADMIN_TOKEN_FILE: optional(text()),
  CAUSEWAY_LEADER_BACKEND: optional(oneOf(['redis', 'postgres'])),
  CAUSEWAY_LEADER_LEASE: duration('3s'),
  CAUSEWAY_LEADER_STALL: duration('15s'),
  CAUSEWAY_DATABASE_TOLERATE_NEWER: flag(false),
} as const;

/** A line about each of them, for `--help`. */
export const sharedHelp: Readonly<Record<string, string>> = {
  DATABASE_URL: 'its Postgres database: postgres://user:password@host:port/database',
  REDIS_URL: 'the Redis of the leader lock; without it a lease in Postgres serves',
  LOG_LEVEL: 'debug, info, warn or error',
  CAUSEWAY_CONFIG: 'a YAML file with settings; the environment wins over it',
  CAUSEWAY_BIND_ADDRESS:
    'where REST and diagnostics listen; another than loopback needs CAUSEWAY_OPERATOR_TOKEN for writes',
  CAUSEWAY_REST_PORT: 'port of REST; 0 takes a free one',
  CAUSEWAY_DIAGNOSTICS_PORT: 'port of /healthy, /ready and /metrics; 0 takes a free one',
  CAUSEWAY_REST_CONNECTIONS: 'most connections of clients of REST',
  CAUSEWAY_REST_CONNECTIONS_PER_CLIENT: 'most of one address',
  CAUSEWAY_WATCH_MEMORY_MIB: 'most memory for what watches have not read yet, MiB; the slowest end first',
  CAUSEWAY_OPERATOR_TOKEN: 'bearer token of the operator',
  CAUSEWAY_AUDIT_RETENTION: 'how long entries of the audit log are kept',
  CAUSEWAY_AUDIT_ENTRIES: 'most entries of the audit log; refusals take a fifth of them at most',
  CAUSEWAY_ADMIN_TOKEN_FILE:
    'where the first start writes a token of an administrator; none = ~/.local/state/causeway/<control plane>/admin.token, off = nowhere',
  CAUSEWAY_LEADER_BACKEND: 'redis or postgres: what decides who leads; redis where REDIS_URL is set',
  CAUSEWAY_LEADER_LEASE: 'how long a leader that died is still the leader',
  CAUSEWAY_LEADER_STALL: 'how long the event loop of a leader may stand still before its lease is given up',
  CAUSEWAY_DATABASE_TOLERATE_NEWER: 'true runs on a database that a newer version has migrated',
};
