import type { ChannelCredentials } from '@grpc/grpc-js';
import type { SealingKeys } from '@causeway/identity';
import type { BackoffOptions, LeaderTerm } from '@causeway/runtime';
import type { ResourceStore } from '@causeway/store';
import type { InboundBounds } from '../session/inbound/inbound-queue';
import type { SyncOptions } from '../session/sync-options';
import type { InsightSource } from './insight-view';
import type { ZoneTokenSource } from './zone-token-source';
import type { ZoneTransport } from './zone-transport';

/** Dependencies of a zone's side of sync. */
export interface ZoneSyncOptions extends SyncOptions {
  readonly zone: string;
  /** Identifies the zone's store across all its incarnations: the global binds the zone's name to it. */
  readonly storeId: string;
  /** `host:port` of the global's replicas, tried in turn; one at least. */
  readonly addresses: readonly string[];
  /** A function is called for each connection, so that a replaced authority takes effect. */
  readonly credentials: ChannelCredentials | (() => ChannelCredentials);
  /** Opens a connection over a transport other than gRPC. */
  readonly dial?: () => ZoneTransport;
  /** The leader's term: its epoch fences all writes, and the session ends with it. */
  readonly term: LeaderTerm;
  /** Writes copies that the global sends, with the term's fence; the store's `write` if absent. */
  readonly writeCopies?: ResourceStore['write'];
  /** Read for each connection; a replaced token restarts the session. If absent, the zone presents none. */
  readonly token?: ZoneTokenSource;
  /** Maximum bytes of the global's messages that wait undecoded. */
  readonly inbound?: InboundBounds;
  /** Seals keys that a Kuma global sends (`Mesh.mtls`) before they are stored. */
  readonly sealing?: SealingKeys;
  /** State of the proxies' connections for the global; if absent, no insights are sent. */
  readonly insights?: InsightSource;
  /** Pauses between connections. */
  readonly backoff?: BackoffOptions;
}
