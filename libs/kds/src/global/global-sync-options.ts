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
  /** Rights of zones to send; without it they may send everything. */
  readonly rights?: ZoneRights;
  /** Extensions offered to Causeway zones; all by default. */
  readonly features?: readonly string[];
  readonly kuma?: KumaOptions;
  /** Who gets services that have no export rule; `All` by default. */
  readonly exportDefault?: ExportDefault;
  /**
   * Called for each written change of another control plane with the time since its origin committed it, ms, by the
   * clocks of the origin's database and of this process; never below 0. Not called for first states.
   */
  readonly onPropagated?: (kind: string, age: number) => void;
  /** How long the absences of a zone's new incarnation are held, ms (`CAUSEWAY_ABSENCE_HOLD`). */
  readonly hold?: number;
  /** Bounds of the resources that zones use on this replica. */
  readonly inbound?: InboundSettings;
  /** Most open connections of zones. */
  readonly connections?: ConnectionLimits;
  /** How often zones may shake hands and open streams. */
  readonly attempts?: AttemptRates;
  /** Begins a new incarnation of the store where a zone proves that the store was set back (docs/design.md §2.7). */
  readonly maintenance?: Pick<StoreMaintenance, 'newIncarnation'>;
}

/** Default of `hold`: 5 minutes (docs/design.md §5). */
export const DEFAULT_ABSENCE_HOLD = 300_000;
