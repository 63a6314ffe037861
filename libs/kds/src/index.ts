/**
 * Sync between control planes over Kuma's KDS.
 *
 *   Resource → WireResource → bytes (once a dialect) → response;   response → WireResource → Copy
 *
 * `wire/` is pure: messages, languages, names. Streams are built around it.
 */
export { CHUNK_BYTES, kdsChannelOptions, MAX_MESSAGE_BYTES } from './wire/kds-service';
export { copyOf, type CopiedKind, type Copy, type CopyResult, type Sender } from './wire/copy';
export { CAUSEWAY_DIALECT, dialectOf, Extension, KUMA_DIALECT, sharedExtensions, type Dialect } from './wire/dialect';
export { decodeZoneHeaders, encodeZoneHeaders, type ZoneHeaders } from './wire/headers';
export type { DecodedResource } from './wire/resource-decoder';
export type { KumaOptions, MeshServicesMode } from './kuma/translation';
export { NODE_FEATURES, type NodeMetadata } from './wire/node';
export { CREATION_ORDER_LABEL, wireKeyOf, toWireResource } from './wire/outgoing';
export {
  decodeRequest,
  encodeRequest,
  type AckRequest,
  type NackRequest,
  type SubscribeRequest,
  type WireRequest,
} from './wire/request';
export type { ResourceBytes } from './wire/resource-bytes';
export { ResourceEncoder, type EncodedResource, type Encoding } from './wire/resource-encoder';
export {
  decodeResponse,
  encodeResponse,
  chunksOf,
  responseSize,
  type IncomingResponse,
  type OutgoingResponse,
  type ResponseHead,
  type StatePosition,
} from './wire/response';
export { unsupportedByKuma } from './kuma/unsupported';
export type { AppliedResult } from './wire/results';
export { kdsSyncService } from './wire/services';
export {
  formatWireKey,
  parseWireKey,
  type WireFault,
  type WireKey,
  type WireMeta,
  type WireResource,
} from './wire/wire-resource';
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
