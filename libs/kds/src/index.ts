/**
 * Sync between control planes over Kuma's KDS.
 *
 *   Resource → WireResource → bytes (once a dialect) → response;   response → WireResource → Copy
 *
 * `wire/` is pure: messages, languages, names. Streams are built around it.
 */
export { CHUNK_BYTES, kdsChannelOptions, MAX_MESSAGE_BYTES } from './wire/channel-options';
export { copyOf, type CopiedKind, type Copy, type CopyResult, type Sender } from './wire/copy';
export { CAUSEWAY_DIALECT, dialectOf, Extension, KUMA_DIALECT, sharedExtensions, type Dialect } from './wire/dialect';
export { decodeZoneHeaders, encodeZoneHeaders, type ZoneHeaders } from './wire/headers';
export type { Received } from './wire/incoming';
export type { KumaOptions, MeshServicesMode } from './wire/language/kuma-language';
export { NODE_FEATURES, type NodeMetadata } from './wire/node';
export { CREATION_ORDER_LABEL, wireKeyOf, wireResource } from './wire/outgoing';
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
  pieces,
  responseSize,
  type IncomingResponse,
  type OutgoingResponse,
  type ResponseHead,
  type StatePosition,
} from './wire/response';
export { kumaFaults } from './wire/unsaid';
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
export { createGlobalSync, type GlobalSync, type ZoneCosts } from './global/global-sync';
export type { IntakeSettings } from './global/zone-intake';
export type { GlobalSyncOptions } from './global/options';
export { DEFAULT_ATTEMPTS, type AttemptRates } from './global/attempt-limits';
export { admitEverybody, type Admission, type AuthPort, type ZoneCaller } from './global/auth';
export { createZoneSync, type ZoneSync, type ZoneSyncStatus } from './zone/zone-sync';
export type { ZoneSyncOptions } from './zone/options';
export { sessionInsight } from './zone/session-insight';
export type { ZoneTransport } from './zone/zone-calls';
export type { ArrivedStream } from './global/zone-streams';
export type { EndReason, ListenedStream, PeerStream, StreamListener } from './stream/peer-stream';
export { createZoneTokens, type ZoneTokenDesk } from './auth/create-zone-tokens';
export { Unauthenticated } from './auth/unauthenticated';
export { type IssuedZoneToken, type ZoneTokenRequest, type ZoneTokens } from './auth/zone-tokens';
export { FileCertificates, type CertificateFiles } from './tls/file-certificates';
export { OwnCertificates } from './tls/own-certificates';
export { tlsServer } from './tls/server-credentials';
export type { ServerCertificates } from './tls/server-certificates';
export { serverNames } from './tls/server-names';
export { globalCredentials, type GlobalTrust } from './tls/zone-credentials';
export { healthOf, lagOf, type Health, type KindReport } from './report';
export { confirmPeerLife, GLOBAL_PEER } from './peer-book';
export type { Adoption } from './global/refused-stores';
export { createZoneKeeper, type ZoneKeeper, type ZoneKeeperOptions } from './global/zone-keeper';
