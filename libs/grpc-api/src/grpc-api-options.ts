import type { AccessPolicy, AuditRecorder, Authenticator, CallerRates, ServerCertificates } from '@causeway/access';
import type { Admission } from '@causeway/admission';
import type { ConnectionLimits } from '@causeway/grpc-server';
import type { Queries } from '@causeway/queries';
import type { Registry } from '@causeway/resources';
import type { Clock, Logger, Tracer } from '@causeway/runtime';
import type { AnsweredCall } from './calls/call-observer';

/** Options of the gRPC API: its sources, and its addresses. */
export interface GrpcApiOptions {
  readonly registry: Registry;
  readonly queries: Queries;
  readonly admission: Admission;
  readonly authenticator: Authenticator;
  readonly policy: AccessPolicy;
  /** Shared with the other interfaces; its creator closes it after them. */
  readonly recorder: AuditRecorder;
  readonly rates?: CallerRates | undefined;
  /** Returns why this replica is not ready; undefined if it is. */
  readonly notReady: () => string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Called once, when the port is opened; plain text if it returns undefined. */
  readonly certificates: () => ServerCertificates | undefined;
  readonly connections?: ConnectionLimits;
  readonly tracer?: Tracer | undefined;
  /** Called for each answered call with its sender; must not throw and must be fast. */
  readonly observe?: (call: AnsweredCall & { readonly user: string }) => void;
}
