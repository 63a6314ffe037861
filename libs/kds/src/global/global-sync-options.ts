import type { Clock, Logger, Tracer } from '@causeway/runtime';
import type { Meshes } from '@causeway/meshes';
import type { Registry } from '@causeway/resources';
import type { IndexReader, ResourceStore, SessionStore, StoreMaintenance } from '@causeway/store';
import type { ExportDefault } from '@causeway/sync';
import type { KumaOptions } from '@causeway/kuma';
import type { ConnectionLimits } from '@causeway/grpc-server';
import type { AttemptRates } from './attempt-limits';
import type { ZoneAuthenticator } from '../auth/zone-authenticator';
import type { ZoneRights } from './zones/zone-rights';
import type { InboundSettings } from '../session/inbound/inbound-capacity';

/** Dependencies of the global's side of sync. */
export interface GlobalSyncOptions {
  readonly store: ResourceStore;
  readonly sessions: SessionStore;
  /** Fed by `followStore`. */
  readonly index: IndexReader;
  /** State of each mesh here; of the same index. */
  readonly meshes: Meshes;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracer?: Tracer | undefined;
  /** Name of this replica. */
  readonly instance: string;
  /** Version of the program. */
  readonly version: string;
  readonly auth: ZoneAuthenticator;
  /** Zones' permissions to send; if absent, zones may send everything. */
  readonly rights?: ZoneRights;
  /** Extensions offered to Causeway zones; all by default. */
  readonly features?: readonly string[];
  readonly kuma?: KumaOptions;
  /** Zones that services without an export rule are sent to; `All` by default. */
  readonly exportDefault?: ExportDefault;
  /**
   * Called for each written change of another control plane with the time since its origin committed it, ms, by the
   * clocks of the origin's database and of this process; never below 0. Not called for first states.
   */
  readonly onPropagated?: (kind: string, age: number) => void;
  /** Time for which deletions are held back after a zone begins a new incarnation, ms (`CAUSEWAY_ABSENCE_HOLD`). */
  readonly hold?: number;
  /** Limits on the resources that zones use on this replica. */
  readonly inbound?: InboundSettings;
  /** Maximum number of open connections of zones. */
  readonly connections?: ConnectionLimits;
  /** Rate limits for handshakes and streams of zones. */
  readonly attempts?: AttemptRates;
  /** Starts a new incarnation of the store if a zone proves that the store was restored from a backup (docs/design.md §2.7). */
  readonly maintenance?: Pick<StoreMaintenance, 'newIncarnation'>;
}

/** Default of `hold`: 5 minutes (docs/design.md §5). */
export const DEFAULT_ABSENCE_HOLD = 300_000;
