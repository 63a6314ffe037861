import type { AccessPolicy, AuditRecorder, Authenticator, CallerRates } from '@causeway/access';
import type { Admission } from '@causeway/admission';
import type { Queries } from '@causeway/queries';
import type { Registry } from '@causeway/resources';
import { injectionToken, type Clock, type Logger, type Tracer } from '@causeway/runtime';
import type { RequestObserver } from './http/answered-request';

/** Limits of requests. Durations in ms, sizes in bytes. */
export interface RestLimits {
  /** Maximum number of open connections. */
  readonly connections: number;
  /** Maximum number of open connections per client address. */
  readonly connectionsPerClient: number;
  /** Maximum size of a body. */
  readonly body: number;
  /** Maximum size of a YAML body: parsing takes 100 times as long as JSON. */
  readonly yaml: number;
  /** Maximum size of a batch, and of one in YAML. */
  readonly batch: number;
  readonly batchYaml: number;
  /** Timeout until the whole request has arrived. */
  readonly requestTimeout: number;
}

export const DEFAULT_LIMITS: RestLimits = {
  connections: 10_000,
  connectionsPerClient: 2_000,
  body: 1024 * 1024,
  yaml: 256 * 1024,
  batch: 64 * 1024 * 1024,
  batchYaml: 1024 * 1024,
  requestTimeout: 30_000,
};

/** Access control of this server (docs/design.md §6). */
export interface RestAccess {
  readonly authenticator: Authenticator;
  readonly policy: AccessPolicy;
  /** Shared with the other interfaces. */
  readonly rates: CallerRates;
}

/** Dependencies of RestModule. */
export interface RestDependencies {
  readonly registry: Registry;
  /** Shared with the other interfaces; its creator closes it after this module has ended. */
  readonly queries: Queries;
  readonly admission: Admission;
  /** Shared with the other interfaces; its creator closes it after them. */
  readonly recorder: AuditRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly access: RestAccess;
  /** Returns the PEM certificate of the authority that issued this server's certificate; undefined if it is an external one. */
  readonly authority?: () => string | undefined;
  /** Version of the program, for the OpenAPI document. */
  readonly version: string;
  readonly limits?: Partial<RestLimits>;
  /** Port of `/ready`, which an answer to a probe at the port of REST names. */
  readonly diagnosticsPort?: number;
  readonly observe?: RequestObserver;
  readonly tracer?: Tracer | undefined;
}

/** Clock, log and audit log, for controllers whose answers take long. */
export type RestRuntime = Pick<RestDependencies, 'clock' | 'logger' | 'recorder' | 'registry'>;

/** Tokens of injected values that have no class in this lib. */
export const REGISTRY = injectionToken<Registry>('Registry');
export const QUERIES = injectionToken<Queries>('Queries');
