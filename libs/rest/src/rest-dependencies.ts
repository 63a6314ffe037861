import type { AccessPolicy, AuditRecorder, Authenticator, CallerRates } from '@causeway/access';
import type { Admission } from '@causeway/admission';
import type { Queries } from '@causeway/queries';
import type { Registry } from '@causeway/resources';
import { injectionToken, type Clock, type Logger, type Tracer } from '@causeway/runtime';
import type { RequestObserver } from './http/answered-request';

/** Bounds of a request. Durations in ms, sizes in bytes. */
export interface RestLimits {
  /** Connections open at once. */
  readonly connections: number;
  /** Of them for one client address. */
  readonly connectionsPerClient: number;
  /** Largest body. */
  readonly body: number;
  /** Largest body in YAML: reading it takes 100 times as long as JSON. */
  readonly yaml: number;
  /** Largest body of a batch, and of one in YAML. */
  readonly batch: number;
  readonly batchYaml: number;
  /** Until the whole request has arrived. */
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
  /** Shared with the other interfaces; who made them closes them, after this module has ended. */
  readonly queries: Queries;
  readonly admission: Admission;
  /** Shared with the other interfaces; who made it closes it after them. */
  readonly recorder: AuditRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly access: RestAccess;
  /** The PEM certificate of the authority that clients verify this server by; undefined where that is another one's. */
  readonly authority?: () => string | undefined;
  /** The version of the program, for the OpenAPI document. */
  readonly version: string;
  readonly limits?: Partial<RestLimits>;
  readonly observe?: RequestObserver;
  readonly tracer?: Tracer | undefined;
}

/** Time, log and audit log, for controllers whose answers take long. */
export type RestRuntime = Pick<RestDependencies, 'clock' | 'logger' | 'recorder' | 'registry'>;

/** Tokens of what Nest injects and has no class of its own in this lib. */
export const REGISTRY = injectionToken<Registry>('Registry');
export const QUERIES = injectionToken<Queries>('Queries');
