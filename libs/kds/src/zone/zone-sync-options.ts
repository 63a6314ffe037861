import type { ChannelCredentials } from '@grpc/grpc-js';
import type { SealingKeys } from '@causeway/identity';
import type { BackoffOptions, Clock, Logger, LeaderTerm, Tracer } from '@causeway/runtime';
import type { Registry } from '@causeway/resources';
import type { IndexReader, ResourceStore, StoreMaintenance } from '@causeway/store';
import type { InboundBounds } from '../session/inbound/inbound-queue';
import type { InsightSource } from './insight-view';
import type { ZoneTokenSource } from './zone-token-source';
import type { ZoneTransport } from './zone-transport';

/** Dependencies of a zone's side of sync. */
export interface ZoneSyncOptions {
  readonly zone: string;
  /** Identifies the zone's store across all its incarnations: the global binds the zone's name to it. */
  readonly storeId: string;
  readonly store: ResourceStore;
  /** Fed by `followStore`. */
  readonly index: IndexReader;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracer?: Tracer | undefined;
  /** `host:port` of the global. */
  readonly address: string;
  /** A function is called for each connection, so that a replaced authority takes effect. */
  readonly credentials: ChannelCredentials | (() => ChannelCredentials);
  /** Opens a connection over a transport other than gRPC to `address`. */
  readonly dial?: () => ZoneTransport;
  /** The leader's term: its epoch fences all writes, and the session ends with it. */
  readonly term: LeaderTerm;
  /** Version of the program. */
  readonly version: string;
  /** Read for each connection; a replaced token restarts the session. If absent, the zone presents none. */
  readonly token?: ZoneTokenSource;
  /** Extensions this zone offers; all by default. */
  readonly features?: readonly string[];
  /** Starts a new incarnation of the store if the global proves that the store was restored from a backup (docs/design.md §2.7). */
  readonly maintenance?: Pick<StoreMaintenance, 'newIncarnation'>;
  /**
   * Called for each written change of another control plane with the time since its origin committed it, ms, by the
   * clocks of the origin's database and of this process; never below 0. Not called for first states.
   */
  readonly onPropagated?: (kind: string, age: number) => void;
  /** Time for which deletions are held back after the global begins a new incarnation, ms (`CAUSEWAY_ABSENCE_HOLD`). */
  readonly hold?: number;
  /** Maximum bytes of the global's messages that wait undecoded. */
  readonly inbound?: InboundBounds;
  /** Seals keys that a Kuma global sends (`Mesh.mtls`) before they are stored. */
  readonly sealing?: SealingKeys;
  /** State of the proxies' connections for the global; if absent, no insights are sent. */
  readonly insights?: InsightSource;
  /** Pauses between connections. */
  readonly backoff?: BackoffOptions;
}

/** Default of `hold`: 5 minutes (docs/design.md §5). */
export const DEFAULT_ABSENCE_HOLD = 300_000;
