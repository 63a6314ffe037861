import type { ChannelCredentials } from '@grpc/grpc-js';
import type { BackoffOptions, Clock, Logger, LeaderTerm } from '@causeway/runtime';
import type { Registry } from '@causeway/resources';
import type { IndexReader, ResourceStore, StoreMaintenance } from '@causeway/store';
import type { InboundBounds } from '../session/inbound/inbound-queue';
import type { ZoneTransport } from './zone-transport';

/** What a zone's side of sync is made of. */
export interface ZoneSyncOptions {
  readonly zone: string;
  /** The zone's store through all its lives: the global binds the zone's name to it. */
  readonly storeId: string;
  readonly store: ResourceStore;
  /** Fed by `followStore`. */
  readonly index: IndexReader;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  /** `host:port` of the global. */
  readonly address: string;
  /** A function is asked at each connection: an authority that was replaced is trusted from then on. */
  readonly credentials: ChannelCredentials | (() => ChannelCredentials);
  /** Opens another connection than one by gRPC to `address`. */
  readonly dial?: () => ZoneTransport;
  /** This leadership: writes carry its epoch, and the session ends with it. */
  readonly term: LeaderTerm;
  /** Version of the program. */
  readonly version: string;
  /** Zone token, read anew at each connection. */
  readonly token?: () => string | undefined;
  /** Extensions this zone offers; all by default. */
  readonly features?: readonly string[];
  /** Begins a new life of the store where the global proves that this one has lost what it had (design.md §2.7). */
  readonly maintenance?: Pick<StoreMaintenance, 'newIncarnation'>;
  /**
   * Told of each change of another control plane's that was written here: how long ago its origin committed it, ms, by
   * the clocks of the origin's database and of this process; never below 0. First states are not told of.
   */
  readonly onPropagated?: (kind: string, age: number) => void;
  /** How long absences of a new life of the global are held, ms (`CAUSEWAY_ABSENCE_HOLD`). */
  readonly hold?: number;
  /** What may wait of the global's messages, undecoded. */
  readonly inbound?: InboundBounds;
  /** Between connections, ms. */
  readonly backoff?: BackoffOptions;
}

/** 5 minutes (design.md §5). */
export const DEFAULT_ABSENCE_HOLD = 300_000;
