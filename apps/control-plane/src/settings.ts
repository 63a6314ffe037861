import { count, duration, flag, oneOf, optional, port, secret, text } from '@causeway/runtime';

/** The settings that every control plane has (design.md §6), by the name of their environment variable. */
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
  CAUSEWAY_LEADER_BACKEND: optional(oneOf(['redis', 'postgres'])),
  CAUSEWAY_LEADER_LEASE: duration('3s'),
  CAUSEWAY_LEADER_STALL: duration('15s'),
  CAUSEWAY_DATABASE_TOLERATE_NEWER: flag(false),
} as const;
