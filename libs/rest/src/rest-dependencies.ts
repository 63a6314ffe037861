import type { Admission } from '@causeway/admission';
import { DEFAULT_QUERY_LIMITS, type QueryLimits, type QuerySources } from '@causeway/queries';
import type { Logger } from '@causeway/runtime';

/** What bounds a request. Durations in ms, sizes in bytes. */
export interface RestLimits extends QueryLimits {
  /** Connections open at once. */
  readonly connections: number;
  /** Of them for one client address. */
  readonly connectionsPerClient: number;
  /** Largest body. */
  readonly body: number;
  /** Largest body in YAML: reading it takes 100 times as long as JSON. */
  readonly yaml: number;
  /** Until the whole request has arrived. */
  readonly requestTimeout: number;
}

export const DEFAULT_LIMITS: RestLimits = {
  connections: 10_000,
  connectionsPerClient: 2_000,
  body: 1024 * 1024,
  yaml: 256 * 1024,
  requestTimeout: 30_000,
  ...DEFAULT_QUERY_LIMITS,
};

/** Who may reach this server and write (docs/design.md §6). */
export interface RestAccess {
  /** The address the server is bound to, as configured. */
  readonly bindAddress: string;
  readonly operatorToken?: string;
}

/** What RestModule is given. */
export interface RestDependencies extends Omit<QuerySources, 'limits'> {
  readonly admission: Admission;
  readonly logger: Logger;
  readonly access: RestAccess;
  readonly limits?: Partial<RestLimits>;
}

/** What Nest injects by symbol: values and interfaces that have no class of their own in this lib. */
export const REGISTRY = Symbol('Registry');
export const QUERIES = Symbol('Queries');
export const ADMISSION = Symbol('Admission');
export const EVENT_ENCODER = Symbol('EventEncoder');
export const OPENAPI = Symbol('OpenApiDocument');
