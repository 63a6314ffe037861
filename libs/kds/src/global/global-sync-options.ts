import type { Meshes } from '@causeway/meshes';
import type { SessionStore } from '@causeway/store';
import type { ExportDefault } from '@causeway/sync';
import type { KumaOptions } from '@causeway/kuma';
import type { ConnectionLimits } from '@causeway/grpc-server';
import type { AttemptRates } from './attempt-limits';
import type { ZoneAuthenticator } from '../auth/zone-authenticator';
import type { ZoneRights } from './zones/zone-rights';
import type { InboundSettings } from '../session/inbound/inbound-capacity';
import type { SyncOptions } from '../session/sync-options';

/** Dependencies of the global's side of sync. */
export interface GlobalSyncOptions extends SyncOptions {
  readonly sessions: SessionStore;
  /** State of each mesh here; of the same index. */
  readonly meshes: Meshes;
  /** Name of this replica. */
  readonly instance: string;
  readonly auth: ZoneAuthenticator;
  /** Zones' permissions to send; if absent, zones may send everything. */
  readonly rights?: ZoneRights;
  readonly kuma?: KumaOptions;
  /** Zones that services without an export rule are sent to; `All` by default. */
  readonly exportDefault?: ExportDefault;
  /** Limits on the resources that zones use on this replica. */
  readonly inbound?: InboundSettings;
  /** Maximum number of open connections of zones. */
  readonly connections?: ConnectionLimits;
  /** Rate limits for handshakes and streams of zones. */
  readonly attempts?: AttemptRates;
}
