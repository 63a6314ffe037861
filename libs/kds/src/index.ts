/**
 * Sync between control planes over Kuma's KDS.
 *
 *   Resource → WireResource → EncodedResource (once a dialect) → response;   response → WireResource → Copy
 *
 * `wire/` is pure: messages, bounds, names. `kuma/` translates kinds to Kuma and back. `session/`, `global/` and `zone/`
 * run the streams, `auth/` holds credentials and ends streams whose token is no longer valid.
 */
export { kdsSyncService } from './wire/kds-service';
export { copyOf, type Sender } from './wire/copy';
export { CAUSEWAY_DIALECT, Extension, KUMA_DIALECT, type Dialect } from './wire/dialect';
export { decodeZoneHeaders, encodeZoneHeaders, type ZoneHeaders } from './wire/headers';
export { NODE_FEATURES } from './wire/node';
export { decodeRequest, encodeRequest, type SubscribeRequest, type WireRequest } from './wire/request';
export { ResourceEncoder } from './wire/resource-encoder';
export { decodeResponse, encodeResponse, type OutgoingResponse, type StatePosition } from './wire/response';
export { formatWireKey, parseWireKey, wireKeyOf, type WireResource } from './wire/wire-resource';
export { unsupportedByKuma } from './kuma/unsupported';
export { GLOBAL_SYNC, KdsGlobalModule, type KdsGlobalOptions } from './kds-global.module';
export { KdsZoneModule, ZONE_SYNC_FACTORY, type KdsZoneOptions, type ZoneSyncFactory } from './kds-zone.module';
export { createGlobalSync, type GlobalSync, type ZoneMetrics } from './global/global-sync';
export type { InboundSettings } from './session/inbound/inbound-capacity';
export type { GlobalSyncOptions } from './global/global-sync-options';
export { DEFAULT_ATTEMPTS, type AttemptRates } from './global/connection-limits';
export {
  noAuthentication,
  type ZoneAuthentication,
  type ZoneAuthenticator,
  type ZoneCaller,
} from './global/zone-authenticator';
export { createZoneSync, type ZoneSync, type ZoneSyncStatus } from './zone/zone-sync';
export type { ZoneSyncOptions } from './zone/zone-sync-options';
export { sessionInsight } from './zone/zone-sync';
export type { ZoneTransport } from './zone/zone-transport';
export type { IncomingStream } from './global/stream-handler';
export type { EndReason, ListenedStream, PeerStream, StreamListener } from './session/peer-stream';
export { healthOf, lagOf, type Health, type KindReport } from './session/kind-report';
export { confirmPeerIncarnation, GLOBAL_PEER } from './session/peer-state';
export type { Adoption } from './global/zones/zone-incidents';
export {
  createZoneLifecycleLoop,
  type ZoneLifecycleLoop,
  type ZoneLifecycleOptions,
} from './global/zones/zone-lifecycle-loop';
export { globalCredentials, tlsServerCredentials, type GlobalTrust } from './auth/credentials';
